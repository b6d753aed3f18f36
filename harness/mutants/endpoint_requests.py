"""Endpoints that take bodies that are wrong, or refuse ones that are right."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from harness.mutants.mutant import Mutant, changing
from harness.reference.endpoint.chat_request import ChatRequest, parse, read_content
from harness.reference.endpoint.envelope import Refusal
from harness.reference.endpoint.parts import Parts

Fields = dict[str, Any]

_MESSAGE = {"role", "content", "name", "refusal", "annotations", "audio", "function_call", "tool_calls", "tool_call_id"}
_USED = {"model", "messages", "stream", "stream_options", "n", "response_format", "tools", "tool_choice", "logprobs"}
_WISHES = {"n", "response_format", "tool_choice", "logprobs"}
_UNUSED = {"audio", "frequency_penalty", "function_call", "functions", "logit_bias", "max_completion_tokens"}
_UNUSED |= {"max_tokens", "metadata", "modalities", "parallel_tool_calls", "presence_penalty", "reasoning_effort"}
_UNUSED |= {"seed", "service_tier", "stop", "store", "temperature", "top_logprobs", "top_p", "user"}


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


def _coaxed(value: object) -> list[Any]:
    """Messages made of what is none: text is the user's, an object stands for a list of one, and the rest is left."""
    if isinstance(value, str):
        return [{"role": "user", "content": value}]
    if isinstance(value, list):
        return [message for item in value for message in _coaxed(item)]
    return [value] if isinstance(value, dict) else []


def _with_coaxed_messages(fields: Fields) -> Fields:
    return {**fields, "messages": _coaxed(fields.get("messages"))}


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


def _last_message_first(body: bytes, parts: Parts) -> ChatRequest:
    """Looks at the last message before it knows that there are any."""
    fields: Any = None
    with suppress(ValueError, RecursionError):
        fields = json.loads(body)
    if isinstance(fields, dict):
        fields["messages"][-1].get("role")
    return parse(body, parts)


def _null_is_empty(content: object, where: str) -> str:
    return "" if content is None else read_content(content, where)


def _anything_is_text(content: object, where: str) -> str:
    return read_content(content if content is None or isinstance(content, str | list) else json.dumps(content), where)


def _first_part(content: object, where: str) -> str:
    return read_content(content[:1] if isinstance(content, list) else content, where)


def _text_parts_only(content: object, where: str) -> str:
    if isinstance(content, list):
        content = [part for part in content if not isinstance(part, dict) or part.get("type") != "image_url"]
    return read_content(content, where)


def _without_earlier_images(fields: Fields) -> Fields:
    """Looks for pictures in the last message, where most clients put them, and reads the texts of the others."""
    *earlier, last = _messages(fields) or [None]
    if not earlier:
        return fields
    return {**fields, "messages": [*map(_without_images, earlier), last]}


def _without_images(message: Any) -> Any:
    parts = message.get("content") if isinstance(message, dict) else None
    if not isinstance(parts, list):
        return message
    return {**message, "content": [part for part in parts if part.get("type") != "image_url"]}


def _has_parts_of(*roles: str) -> Callable[[Fields], bool]:
    return lambda fields: any(m["role"] in roles and isinstance(m.get("content"), list) for m in _messages(fields))


def _has_null_answer(fields: Fields) -> bool:
    return any(m.get("role") == "assistant" and m.get("content") is None for m in _messages(fields))


def _has_null_refusal(fields: Fields) -> bool:
    return any("refusal" in m and m["refusal"] is None for m in _messages(fields))


def _given(*names: str) -> Callable[[Fields], bool]:
    return lambda fields: any(fields.get(name) is not None for name in names)


def _has_unknown(fields: Fields) -> bool:
    return not fields.keys() <= _USED | _UNUSED or any(not m.keys() <= _MESSAGE for m in _messages(fields))


def _has_null(fields: Fields) -> bool:
    return any(value is None for name, value in fields.items() if name != "stream")


def _default_model(fields: Fields) -> Fields:
    return {**fields, "model": fields.get("model") or "writer"}


def _model_as_text(fields: Fields) -> Fields:
    return {**fields, "model": str(fields["model"])} if isinstance(fields.get("model"), int) else fields


def _without_wishes(fields: Fields) -> Fields:
    return {name: value for name, value in fields.items() if name not in _WISHES}


def _without_wishes_of_streams(fields: Fields) -> Fields:
    return _without_wishes(fields) if fields.get("stream") is True else fields


def _with_last_parts_of_others(fields: Fields) -> Fields:
    """Reads the user's parts, and of the others' the last."""
    if not _messages(fields):
        return fields
    return {**fields, "messages": [_with_last_part_unless_users(message) for message in _messages(fields)]}


def _with_last_part_unless_users(message: Any) -> Any:
    parts = message.get("content") if isinstance(message, dict) and message.get("role") != "user" else None
    return {**message, "content": parts[-1:]} if isinstance(parts, list) else message


def _with_users_parts_alone(fields: Fields) -> Fields:
    """Reads a list of parts where most clients send one, and takes other messages for strings."""
    messages = fields.get("messages")
    if not isinstance(messages, list):
        return fields
    return {**fields, "messages": [_without_parts_unless_users(message) for message in messages]}


def _without_parts_unless_users(message: Any) -> Any:
    lists = isinstance(message, dict) and isinstance(message.get("content"), list)
    return {**message, "content": ""} if lists and message.get("role") != "user" else message


REQUESTS: tuple[Mutant[Parts], ...] = (
    changing("no_json_is_422", "answers a body that is no JSON with 422", "AE-REQ-1", parse=_validation_error),
    changing("no_object_crashes", "crashes on JSON that is no object", "AE-REQ-1", parse=_takes_an_object),
    changing("model_by_default", "takes an agent where none is named", "AE-REQ-2", parse=_changing(_default_model)),
    changing("model_as_text", "takes a number for a model's name", "AE-REQ-2", parse=_changing(_model_as_text)),
    changing(
        "messages_coaxed",
        "makes messages of what is none",
        "AE-REQ-2",
        "AE-ENV-1",
        "AE-ENV-2",
        parse=_changing(_with_coaxed_messages),
    ),
    changing(
        "messages_unchecked",
        "crashes on messages that are no list of objects",
        "AE-REQ-2",
        "AE-CLIENT-1",
        "AE-REQ-8",
        parse=_last_message_first,
    ),
    changing("null_is_empty", "takes content null for empty", "AE-REQ-3", read_content=_null_is_empty),
    changing(
        "anything_is_text",
        "takes anything for text",
        "AE-REQ-3",
        "AE-ENV-1",
        "AE-ENV-2",
        "AE-REQ-8",
        read_content=_anything_is_text,
    ),
    changing(
        "parts_of_user_only",
        "refuses text parts in messages that are not the user's",
        "AE-REQ-4",
        "AE-TURN-4",
        parse=_refusing(_has_parts_of("system", "assistant"), "messages"),
    ),
    changing(
        "user_parts_refused",
        "refuses text parts in the user's messages",
        "AE-REQ-4",
        "AE-EMPTY-1",
        "AE-EMPTY-3",
        "AE-TURN-4",
        parse=_refusing(_has_parts_of("user"), "messages"),
    ),
    changing(
        "first_part_only",
        "reads the first part of a list",
        "AE-REQ-4",
        "AE-REQ-9",
        "AE-TURN-4",
        read_content=_first_part,
    ),
    changing(
        "parts_of_user_read",
        "loses the text parts of messages that are not the user's",
        "AE-TURN-4",
        parse=_changing(_with_users_parts_alone),
    ),
    changing(
        "last_part_of_others",
        "reads the last text part of messages that are not the user's",
        "AE-TURN-4",
        parse=_changing(_with_last_parts_of_others),
    ),
    changing(
        "null_answer_refused",
        "refuses content null beside tool_calls",
        "AE-REQ-4",
        parse=_refusing(_has_null_answer, "messages"),
    ),
    changing(
        "unused_refused",
        "refuses fields that it does not use",
        "AE-REQ-5",
        "AE-REQ-11",
        parse=_refusing(_given(*_UNUSED), "body"),
    ),
    changing(
        "unknown_refused", "refuses fields that it does not know", "AE-REQ-5", parse=_refusing(_has_unknown, "body")
    ),
    changing("wishes_dropped", "drops what it cannot do", "AE-REQ-6", parse=_changing(_without_wishes)),
    changing(
        "wishes_of_streams_dropped",
        "drops what it cannot do where it streams",
        "AE-REQ-6",
        parse=_changing(_without_wishes_of_streams),
    ),
    changing(
        "earlier_image_dropped",
        "drops image parts of earlier messages in silence",
        "AE-REQ-9",
        parse=_changing(_without_earlier_images),
    ),
    changing("image_dropped", "drops image parts in silence", "AE-REQ-9", read_content=_text_parts_only),
    changing("tool_dropped", "drops messages of role tool in silence", "AE-REQ-9", parse=_without_role("tool")),
    changing("developer_dropped", "drops developer messages in silence", "AE-REQ-9", parse=_without_role("developer")),
    changing(
        "presence_refused",
        "refuses a parameter that asks for what is done anyway",
        "AE-REQ-11",
        parse=_refusing(_given("n", "response_format", "logprobs"), "body"),
    ),
    changing("tools_refused", "refuses tools", "AE-REQ-11", parse=_refusing(_given("tools"), "tools")),
    changing(
        "stream_options_refused",
        "refuses stream_options",
        "AE-REQ-11",
        "AE-REPLY-8",
        "AE-STREAM-6",
        "AE-STREAM-10",
        parse=_refusing(_given("stream_options"), "stream_options"),
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
)
