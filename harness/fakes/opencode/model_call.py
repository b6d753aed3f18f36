"""A call of the model server, over the wire, streaming."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any
from urllib.parse import urlsplit

from harness.exchange import Headers
from harness.fakes.opencode.behaviour import Behaviour
from harness.fakes.opencode.retry import broken_off, error_in_stream, no_chunk, not_json, refused
from harness.fakes.opencode.settings import Provider
from harness.http_call import CallFailed, HttpCall, encode_request
from harness.sse import Parser


class _Answer:
    """An answer as it comes; after its last piece comes None."""

    def __init__(self) -> None:
        self.status = 0
        self.headers: Headers = ()
        self.pieces: asyncio.Queue[bytes | None] = asyncio.Queue()

    def head(self, status: int, headers: Headers) -> None:
        self.status, self.headers = status, headers

    def data(self, data: bytes) -> None:
        self.pieces.put_nowait(data)


async def stream_call(provider: Provider, body: dict[str, Any], behaviour: Behaviour) -> AsyncIterator[dict[str, Any]]:
    """The chunks of the answer, as they come; raises ModelFailed when it is none."""
    url = f"{provider.base_url}/chat/completions"
    answer = _Answer()
    call = HttpCall("POST", answer)
    request = _encode(url, provider, behaviour.model_call(body), behaviour.version)
    calling = asyncio.ensure_future(call.run(url, request))
    calling.add_done_callback(lambda _: answer.pieces.put_nowait(None))
    parser, told = Parser(), b""
    try:
        while (data := await answer.pieces.get()) is not None:
            if answer.status != 200:
                told += data
                continue
            for event in parser.feed(data):
                if event.data != "[DONE]":
                    yield _chunk(event.data, behaviour)
        await calling
    except CallFailed as error:
        raise broken_off(url) from error
    finally:
        calling.cancel()
    if not call.whole:
        raise broken_off(url)
    if answer.status != 200:
        headers = {name.lower(): value for name, value in answer.headers}
        retried, types = behaviour.retries(answer.status), behaviour.retried_types
        raise refused(answer.status, headers, told, url, retried, types, behaviour.overflows)


def _encode(url: str, provider: Provider, body: dict[str, Any], version: str) -> bytes:
    address, data = urlsplit(url), json.dumps(body, separators=(",", ":"), ensure_ascii=False).encode()
    headers = (
        ("host", address.netloc),
        ("accept", "*/*"),
        ("authorization", f"Bearer {provider.api_key}"),
        ("content-type", "application/json"),
        ("user-agent", f"opencode/{version}"),
        *provider.headers,
        ("content-length", str(len(data))),
    )
    return encode_request("POST", address.path, headers, data)


def _chunk(data: str, behaviour: Behaviour) -> dict[str, Any]:
    """The chunk that an event holds; raises ModelFailed for an error, and for what is neither."""
    try:
        chunk = json.loads(data)
    except ValueError:
        raise not_json(data) from None
    error = chunk.get("error") if isinstance(chunk, dict) else None
    if isinstance(error, dict) and "message" in error:
        raise error_in_stream(error, behaviour.tries_again(error))
    if not isinstance(chunk, dict) or not isinstance(chunk.get("choices"), list):
        raise no_chunk(chunk)
    return chunk
