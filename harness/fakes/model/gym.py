"""What a Gym model server makes of its upstream's answers: it waits for the whole, and replays it as a stream.

A refusal that names the context becomes an empty completion with finish reason `length`, any other one a 500. What it
does was read in its distribution (0.7.0).
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from harness.exchange import Chunk, Request, parse_json
from harness.fakes.model.core import CHAT, json_plan
from harness.fakes.model.replayed import replayed
from harness.fakes.model.responses import RESPONSES, as_chat, as_response, response_events
from harness.fakes.plan import Plan

_EVENT_STREAM = (("content-type", "text/event-stream; charset=utf-8"), ("cache-control", "no-cache"))
EMPTY_ID = "chtcmpl-123"
"""The id of the completion that stands for a request that was larger than the window."""

_NAMES_CONTEXT = ("context length", "max_tokens")


def buffered(request: Request, upstream: Callable[[Request], Plan]) -> Plan:
    """The plan for a request, made of the `upstream`'s plan for the same request without its stream."""
    body = request.json()
    if request.path not in (CHAT, RESPONSES) or request.method != "POST" or not isinstance(body, dict):
        return upstream(request)
    asked = as_chat(body) if request.path == RESPONSES else body
    plain = {name: value for name, value in asked.items() if name not in ("stream", "stream_options")}
    plan = upstream(Request("POST", CHAT, request.headers, json.dumps(plain).encode()))
    if plan.status is None:
        return plan
    completion = _completion(plan, str(body.get("model")))
    if completion is None:
        failure = b"Internal Server Error"
        return Plan(500, (("content-type", "text/plain; charset=utf-8"),), (Chunk(0.0, failure),), fault=plan.fault)
    return replace(_served(request, body, completion), gate=plan.gate, fault=plan.fault)


def _served(request: Request, body: dict[str, Any], completion: dict[str, Any]) -> Plan:
    whole = as_response(completion) if request.path == RESPONSES else completion
    if body.get("stream") is not True:
        return json_plan(whole)
    options = body.get("stream_options")
    include_usage = isinstance(options, dict) and bool(options.get("include_usage"))
    stream = response_events(whole) if request.path == RESPONSES else replayed(completion, include_usage)
    return Plan(200, _EVENT_STREAM, (Chunk(0.0, stream),), stream=True)


def _completion(plan: Plan, model: str) -> dict[str, Any] | None:
    """What came of the upstream's call; None when that failed."""
    data = b"".join(piece.data for piece in plan.pieces)
    if plan.status == 400 and any(name in data.decode() for name in _NAMES_CONTEXT):
        return _empty(model)
    value = parse_json(data)
    return value if plan.status == 200 and plan.ending == "complete" and isinstance(value, dict) else None


def _empty(model: str) -> dict[str, Any]:
    message = {"role": "assistant", "content": None, "tool_calls": None}
    choices = [{"index": 0, "message": message, "finish_reason": "length"}]
    return {"id": EMPTY_ID, "object": "chat.completion", "created": 0, "model": model, "choices": choices}
