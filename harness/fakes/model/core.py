"""The fake model server without its socket: a request and an answer in, a plan of writes out."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from harness.exchange import Chunk, Headers, Request
from harness.fakes.model.face import PLAIN, Face
from harness.fakes.model.limits import Size, counted, cut, limit_of
from harness.fakes.model.script import Answer, Usage, messages_of
from harness.fakes.model.tokens import log_probabilities, pieces, prompt_text, token_ids
from harness.fakes.model.wording import Refusal, nested
from harness.fakes.plan import Ending, Plan
from harness.sse import encode

CHAT = "/v1/chat/completions"

_JSON: Headers = (("content-type", "application/json"),)
_SSE: Headers = (("content-type", "text/event-stream; charset=utf-8"), ("cache-control", "no-cache"))
_CREATED = 1_700_000_000
_COMPLETION_ID = "chatcmpl-turnproof"
_ENDINGS: dict[str, Ending] = {"hang_after_text": "hang", "cut": "cut", "reset": "reset"}


def refusal_plan(refusal: Refusal, face: Face = PLAIN, headers: Headers = (), fault: str | None = None) -> Plan:
    """A refusal in the face's envelope."""
    body = json.dumps(face.envelope(refusal)).encode()
    return Plan(refusal.status, _JSON + headers, (Chunk(0.0, body),), fault=fault)


def respond(request: Request, models: frozenset[str], choose: Callable[[Any], Answer], face: Face = PLAIN) -> Plan:
    """The plan for a request: `GET /v1/models` and `POST /v1/chat/completions`, anything else is refused."""
    if request.path == "/v1/models" and request.method == "GET" and face.lists_models:
        return model_list_plan(models)
    if request.path != CHAT or request.method != "POST":
        return refusal_plan(Refusal(404, f"no route {request.method} {request.path}", "invalid_request_error"), face)
    body = request.json()
    if not isinstance(body, dict) or not messages_of(body):
        return refusal_plan(Refusal(400, "the body must be an object with messages", "invalid_request_error"), face)
    model = body.get("model")
    if not face.any_model and (not isinstance(model, str) or model not in models):
        return refusal_plan(face.unknown_model(model), face)
    return _counted_plan(body, choose, face) if face.counts else completion_plan(body, choose(body), face)


def _counted_plan(body: dict[str, Any], choose: Callable[[Any], Answer], face: Face) -> Plan:
    """The plan of a server that counts tokens: as much of the answer as the request's limit and the window allow."""
    prompt, limit = len(pieces(prompt_text(body))), limit_of(body, face.limits)
    if face.window is not None:
        size = Size(face.window, prompt, limit)
        if face.over(size):
            message = face.over_window(size)
            refusal = Refusal(400, message, "invalid_request_error", "messages", "context_length_exceeded")
            return refusal_plan(refusal, face)
        limit = size.left if limit is None else min(limit, size.left)
    return completion_plan(body, counted(cut(choose(body), limit), prompt), face)


def model_list_plan(models: Iterable[str]) -> Plan:
    """The answer to `GET /v1/models`."""
    return json_plan({"object": "list", "data": [_model(name) for name in sorted(models)]})


def completion_plan(body: dict[str, Any], answer: Answer, face: Face = PLAIN) -> Plan:
    """The plan that answers a chat completions request with `answer`, streaming when the request says so."""
    if answer.fault == "hang":
        return Plan(None, ending="hang", fault="hang")
    if answer.status != 200:
        kind = answer.error_type or ("server_error" if answer.status >= 500 else "invalid_request_error")
        fault = f"status {answer.status}"
        return refusal_plan(Refusal(answer.status, answer.message, kind), face, answer.headers, fault)
    if body.get("stream") is True:
        return _stream_plan(body, answer, face)
    return _whole_plan(body, answer, face)


def _whole_plan(body: dict[str, Any], answer: Answer, face: Face) -> Plan:
    plan = replace(json_plan(_completion(body, answer, face)), gate=answer.gate)
    if answer.fault in (None, "no_done"):
        return plan
    if answer.fault == "error_chunk":
        return refusal_plan(Refusal(500, answer.message, "server_error"), face, fault=answer.fault)
    data = plan.pieces[0].data
    half = (Chunk(0.0, data[: len(data) // 2]),)
    return replace(plan, pieces=half, stream=True, ending=_ENDINGS.get(answer.fault, "complete"), fault=answer.fault)


@dataclass(frozen=True)
class _Frame:
    """What all events of one stream share."""

    model: str

    def event(self, delta: dict[str, Any], finish: str | None = None) -> bytes:
        return encode(
            {
                "id": _COMPLETION_ID,
                "object": "chat.completion.chunk",
                "created": _CREATED,
                "model": self.model,
                "choices": [{"index": 0, "delta": delta, "finish_reason": finish}],
            }
        )

    def usage(self, usage: dict[str, Any]) -> bytes:
        return encode(
            {
                "id": _COMPLETION_ID,
                "object": "chat.completion.chunk",
                "created": _CREATED,
                "model": self.model,
                "choices": [],
                "usage": usage,
            }
        )


def _stream_plan(body: dict[str, Any], answer: Answer, face: Face) -> Plan:
    frame = _Frame(str(body["model"]))
    content = _content(frame, body, answer, face)
    timed = [Chunk(index * answer.pause, data) for index, data in enumerate(content)]
    end = timed[-1].at
    if answer.fault in _ENDINGS:
        return Plan(200, _SSE, tuple(timed), stream=True, ending=_ENDINGS[answer.fault], fault=answer.fault)
    held_from = min(2, len(timed))
    if answer.fault == "bad_chunk":
        timed.append(Chunk(end, b'data: {"choices": [\n\n'))
    elif answer.fault == "error_chunk":
        kind = answer.error_type or "server_error"
        status = 500 if kind == "server_error" else 400
        timed.append(Chunk(end, encode(nested(Refusal(status, answer.message, kind)))))
    else:
        if answer.finish is not None:
            timed.append(Chunk(end, frame.event({}, answer.finish)))
        options = body.get("stream_options")
        if isinstance(options, dict) and options.get("include_usage"):
            timed.append(Chunk(end, frame.usage(_usage(body, answer))))
    if answer.fault != "no_done":
        timed.append(Chunk(end, b"data: [DONE]\n\n"))
    return Plan(200, _SSE, tuple(timed), stream=True, fault=answer.fault, gate=answer.gate, held_from=held_from)


def _content(frame: _Frame, body: dict[str, Any], answer: Answer, face: Face) -> Iterator[bytes]:
    yield frame.event({"role": "assistant", "content": ""})
    for piece in _pieces(answer.reasoning, answer.piece):
        yield frame.event(dict.fromkeys(face.reasoning_fields or (answer.reasoning_field,), piece))
    for piece in _pieces(answer.text, answer.piece):
        yield frame.event({"content": piece})
    for index, call in enumerate(_tool_calls(body, answer)):
        yield frame.event({"tool_calls": [{"index": index, **call}]})


def _tool_calls(body: dict[str, Any], answer: Answer) -> list[dict[str, Any]]:
    """The calls with ids that no other step of the conversation has."""
    step = len(messages_of(body))
    return [
        {
            "id": f"call_{step}_{index}",
            "type": "function",
            "function": {"name": call.name, "arguments": call.arguments},
        }
        for index, call in enumerate(answer.tool_calls)
    ]


def _pieces(text: str, size: int) -> Iterator[str]:
    return (text[at : at + size] for at in range(0, len(text), size))


def _completion(body: dict[str, Any], answer: Answer, face: Face) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": answer.text}
    if answer.reasoning:
        message |= dict.fromkeys(face.reasoning_fields or (answer.reasoning_field,), answer.reasoning)
    if answer.tool_calls:
        message["tool_calls"] = _tool_calls(body, answer)
    if face.token_ids:
        message |= _tokens(body, answer)
    return {
        "id": _COMPLETION_ID,
        "object": "chat.completion",
        "created": _CREATED,
        "model": body["model"],
        "choices": [{"index": 0, "message": message, "finish_reason": answer.finish, "logprobs": None}],
        "usage": _usage(body, answer),
    }


def _tokens(body: dict[str, Any], answer: Answer) -> dict[str, Any]:
    """What a server that trains models is asked for beside the text; see `harness.fakes.model.tokens`."""
    generated = token_ids(answer.reasoning + answer.text + "".join(call.arguments for call in answer.tool_calls))
    return {
        "prompt_token_ids": token_ids(prompt_text(body)),
        "generation_token_ids": generated,
        "generation_log_probs": log_probabilities(generated),
    }


def _usage(body: dict[str, Any], answer: Answer) -> dict[str, Any]:
    usage = answer.usage or _counted(body, answer)
    counts = {
        "prompt_tokens": usage.prompt,
        "completion_tokens": usage.completion,
        "total_tokens": usage.prompt + usage.completion,
        "completion_tokens_details": {"reasoning_tokens": usage.reasoning},
    }
    return {**counts, "prompt_tokens_details": {"cached_tokens": usage.cached}} if usage.cached else counts


def _counted(body: dict[str, Any], answer: Answer) -> Usage:
    prompt = sum(len(text) for _, text in messages_of(body)) // 4 + 1
    return Usage(prompt, (len(answer.text) + len(answer.reasoning)) // 4 + 1)


def _model(name: str) -> dict[str, Any]:
    return {"id": name, "object": "model", "created": _CREATED, "owned_by": "turnproof"}


def json_plan(value: Any, status: int = 200) -> Plan:
    """An answer whose body is `value` as JSON."""
    return Plan(status, _JSON, (Chunk(0.0, json.dumps(value, ensure_ascii=False).encode()),))
