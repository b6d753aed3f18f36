"""A call of the model server, over the wire, streaming."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from typing import Any

import httpx

from harness.fakes.opencode.behaviour import Behaviour
from harness.fakes.opencode.retry import ModelFailed, broken_off, error_in_stream, is_overflow, not_json, refused
from harness.fakes.opencode.settings import Provider
from harness.sse import Parser


async def stream_call(
    http: httpx.AsyncClient, provider: Provider, body: dict[str, Any], behaviour: Behaviour
) -> AsyncIterator[dict[str, Any]]:
    """The chunks of the answer, as they come; raises ModelFailed when it is none."""
    url = f"{provider.base_url}/chat/completions"
    headers = {"authorization": f"Bearer {provider.api_key}", "user-agent": f"opencode/{behaviour.version}"}
    try:
        async with http.stream("POST", url, json=behaviour.model_call(body), headers=headers) as answer:
            if answer.status_code != 200:
                told = await answer.aread()
                status, types = answer.status_code, behaviour.retried_types
                raise refused(status, dict(answer.headers), told, url, behaviour.retries(status), types)
            parser = Parser()
            async for data in answer.aiter_bytes():
                for event in parser.feed(data):
                    if event.data != "[DONE]":
                        yield _chunk(event.data)
    except httpx.HTTPError as error:
        raise broken_off(url) from error


def _chunk(data: str) -> dict[str, Any]:
    try:
        chunk = json.loads(data)
    except ValueError:
        raise not_json(data) from None
    if isinstance(chunk, dict) and "error" in chunk:
        raise _failed(chunk["error"])
    return chunk if isinstance(chunk, dict) else {}


def _failed(error: Any) -> ModelFailed:
    shown = json.dumps(error, separators=(",", ":"), ensure_ascii=False)
    message = str(error.get("message", "")) if isinstance(error, dict) else str(error)
    if is_overflow(message):
        data = {"message": message, "responseBody": shown}
        return ModelFailed({"name": "ContextOverflowError", "data": data}, message, False)
    return error_in_stream(shown)
