"""Endpoints that read the bodies of requests wrongly, or refuse them wrongly."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from starlette.exceptions import HTTPException

from harness.mutants.mutant import Mutant, changing
from harness.reference.endpoint.access import no_such_model
from harness.reference.endpoint.chat_request import ChatRequest, parse, read_content
from harness.reference.endpoint.envelope import Refusal, turn_failed
from harness.reference.endpoint.parts import Parts
from harness.reference.endpoint.turn import Failure, Turn

Fields = dict[str, Any]
_ONE_MIB = 2**20


def _without_headers(error: HTTPException) -> Refusal:
    return Refusal(error.status_code, error.detail)


def _no_such_path(_error: HTTPException) -> Refusal:
    return Refusal(404, "There is no such path.")


def _refusing(wrong: Callable[[Fields], bool], param: str) -> Callable[[bytes, Parts], ChatRequest]:
    """Reads requests, but refuses those with something `wrong` about their fields."""

    def read(body: bytes, parts: Parts) -> ChatRequest:
        chat = parse(body, parts)
        if wrong(json.loads(body)):
            raise Refusal(400, f"`{param}` is not supported.", param=param)
        return chat

    return read


def _changing(change: Callable[[Fields], Fields]) -> Callable[[bytes, Parts], ChatRequest]:
    """Reads requests as if their fields were others."""

    def read(body: bytes, parts: Parts) -> ChatRequest:
        with suppress(ValueError, RecursionError):
            fields = json.loads(body)
            if isinstance(fields, dict):
                body = json.dumps(change(fields)).encode()
        return parse(body, parts)

    return read


def _messages(fields: Fields) -> list[Any]:
    messages = fields.get("messages")
    return messages if isinstance(messages, list) else []


def _without_role(role: str) -> Callable[[bytes, Parts], ChatRequest]:
    def has_role(message: Any) -> bool:
        return isinstance(message, dict) and message.get("role") == role

    def without(fields: Fields) -> Fields:
        if not any(map(has_role, _messages(fields))):
            return fields
        return {**fields, "messages": [message for message in _messages(fields) if not has_role(message)]}

    return _changing(without)


def _without_non_objects(fields: Fields) -> Fields:
    return {**fields, "messages": [message for message in _messages(fields) if isinstance(message, dict)] or None}


def _validation_error(body: bytes, parts: Parts) -> ChatRequest:
    with suppress(RecursionError):
        try:
            json.loads(body)
        except ValueError:
            raise Refusal(422, "The body is not JSON.") from None
    return parse(body, parts)


def _takes_an_object(body: bytes, parts: Parts) -> ChatRequest:
    with suppress(ValueError, RecursionError):
        json.loads(body).get("model")
    return parse(body, parts)


def _down_to_the_bottom(body: bytes, parts: Parts) -> ChatRequest:
    with suppress(ValueError):
        json.loads(body)
    return parse(body, parts)


def _short_bodies_only(body: bytes, parts: Parts) -> ChatRequest:
    if len(body) > _ONE_MIB:
        raise MemoryError
    return parse(body, parts)


def _numeric_code(body: bytes, parts: Parts) -> ChatRequest:
    try:
        return parse(body, parts)
    except Refusal as refusal:
        if refusal.param == "model" and json.loads(body).get("stream") is True:
            code: Any = refusal.status
            refusal.code = code
        raise


def _null_is_empty(content: object, where: str) -> str:
    return "" if content is None else read_content(content, where)


def _object_is_text(content: object, where: str) -> str:
    return json.dumps(content) if isinstance(content, dict) else read_content(content, where)


def _encodable(content: object, where: str) -> str:
    text = read_content(content, where)
    return text.encode().decode()


def _text_parts_only(content: object, where: str) -> str:
    if isinstance(content, list):
        content = [part for part in content if not isinstance(part, dict) or part.get("type") != "image_url"]
    return read_content(content, where)


async def _server_error(agent: str, _drive: Callable[..., Any]) -> Refusal:
    refusal = no_such_model(agent)
    refusal.type = "server_error"
    return refusal


def _try_again(failure: Failure) -> Refusal:
    refusal = turn_failed(failure)
    refusal.headers.clear()
    return refusal


class _Breaker:
    """Opens when opencode was down twice in a row, and then refuses before it looks at what is asked."""

    def __init__(self) -> None:
        self._down = 0

    def turn_failed(self, failure: Failure) -> Refusal:
        self._down += "503" in failure.reason
        return turn_failed(failure)

    def make_turn(self, session: str) -> Turn:
        self._down = 0
        return Turn(session)

    def parse(self, body: bytes, parts: Parts) -> ChatRequest:
        try:
            return parse(body, parts)
        except Refusal:
            if self._down < 2:
                raise
            raise turn_failed(Failure("opencode is down")) from None


def _has_system_parts(fields: Fields) -> bool:
    return any(m.get("role") == "system" and isinstance(m.get("content"), list) for m in _messages(fields))


def _has_null_answer(fields: Fields) -> bool:
    return any(m.get("role") == "assistant" and m.get("content") is None for m in _messages(fields))


def _has_null_refusal(fields: Fields) -> bool:
    return any("refusal" in m and m["refusal"] is None for m in _messages(fields))


def _has_temperature(fields: Fields) -> bool:
    return fields.get("temperature") is not None


def _has_null(fields: Fields) -> bool:
    return any(value is None for name, value in fields.items() if name != "stream")


def _default_model(fields: Fields) -> Fields:
    return {"model": "writer", **fields}


def _model_as_text(fields: Fields) -> Fields:
    return {**fields, "model": str(fields["model"])} if isinstance(fields.get("model"), int) else fields


def _one_choice(fields: Fields) -> Fields:
    return {**fields, "n": 1} if fields.get("n") == 2 else fields


_breaker = _Breaker()

REQUESTS: tuple[Mutant[Parts], ...] = (
    changing("no_json_is_422", "answers a body that is no JSON with 422", "AE-REQ-1", parse=_validation_error),
    changing("no_object_crashes", "crashes on JSON that is no object", "AE-REQ-1", parse=_takes_an_object),
    changing("model_by_default", "takes an agent where none is named", "AE-REQ-2", parse=_changing(_default_model)),
    changing("model_as_text", "takes a number for a model's name", "AE-REQ-2", parse=_changing(_model_as_text)),
    changing("no_object_skipped", "skips messages that are none", "AE-REQ-2", parse=_changing(_without_non_objects)),
    changing("null_is_empty", "takes content null for empty", "AE-REQ-3", read_content=_null_is_empty),
    changing("object_is_text", "takes an object for text", "AE-REQ-3", read_content=_object_is_text),
    changing(
        "system_parts_refused",
        "refuses text parts in system messages",
        "AE-REQ-4",
        parse=_refusing(_has_system_parts, "messages"),
    ),
    changing(
        "null_answer_refused",
        "refuses content null beside tool_calls",
        "AE-REQ-4",
        parse=_refusing(_has_null_answer, "messages"),
    ),
    changing("knob_refused", "refuses temperature", "AE-REQ-5", parse=_refusing(_has_temperature, "temperature")),
    changing("n_ignored", "gives one choice where two were asked for", "AE-REQ-6", parse=_changing(_one_choice)),
    changing("depth_crashes", "crashes on a deeply nested body", "AE-REQ-7", parse=_down_to_the_bottom),
    changing("length_crashes", "crashes on a body of a megabyte", "AE-REQ-7", parse=_short_bodies_only),
    changing("surrogate_crashes", "crashes on half a character", "AE-REQ-7", read_content=_encodable),
    changing(
        "breaker_before_body",
        "blames the upstream for a mistake of the client",
        "AE-REQ-8",
        parse=_breaker.parse,
        turn_failed=_breaker.turn_failed,
        make_turn=_breaker.make_turn,
    ),
    changing("image_dropped", "drops image parts in silence", "AE-REQ-9", read_content=_text_parts_only),
    changing("methods_untold", "does not tell the right method", "AE-REQ-10", not_routed=_without_headers),
    changing("method_unknown", "takes a wrong method for a wrong path", "AE-REQ-10", not_routed=_no_such_path),
    changing("tool_dropped", "drops messages of role tool in silence", "AE-REQ-9", parse=_without_role("tool")),
    changing("developer_dropped", "drops developer messages in silence", "AE-REQ-9", parse=_without_role("developer")),
    changing(
        "tool_choice_auto_refused",
        "refuses tool_choice auto",
        "AE-REQ-11",
        parse=_refusing(lambda fields: fields.get("tool_choice") == "auto", "tool_choice"),
    ),
    changing(
        "null_refused",
        "refuses optional fields that are null",
        "AE-REQ-11",
        "AE-STREAM-10",
        parse=_refusing(_has_null, "body"),
    ),
    changing(
        "own_answer_refused",
        "refuses its own answer as history",
        "AE-REQ-12",
        parse=_refusing(_has_null_refusal, "messages"),
    ),
    changing("numeric_code", "gives a number as the error's code", "AE-ENV-1", parse=_numeric_code),
    changing("mistake_is_server_error", "calls an unknown model its own error", "AE-ENV-2", refuse_agent=_server_error),
    changing("retry_invited", "leaves x-should-retry out of a 502", "AE-ENV-3", turn_failed=_try_again),
)
