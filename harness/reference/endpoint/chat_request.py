"""A chat completions request, from bytes to a value or a refusal.

What is not supported and would change the answer is refused by name; everything else that is unknown is ignored.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from harness.reference.endpoint.envelope import Refusal

if TYPE_CHECKING:
    from harness.reference.endpoint.parts import Parts

_ROLES = ("system", "developer", "user", "assistant", "tool", "function")
_TEXT_PARTS = {"text": "text", "refusal": "refusal"}


@dataclass(frozen=True)
class Message:
    """A message of the conversation; what it holds is text by now."""

    role: str
    text: str


@dataclass(frozen=True)
class ChatRequest:
    """A valid request; `model` is the id that was asked for, which may be unknown."""

    model: str
    messages: tuple[Message, ...]
    stream: bool = False
    include_usage: bool = False


def parse(body: bytes, parts: Parts) -> ChatRequest:
    """The request in `body`; raises `Refusal` (400)."""
    fields = _decode(body)
    model = fields.get("model")
    if not isinstance(model, str) or not model:
        raise _invalid("model", "must be a string that is not empty")
    stream = parts.read_stream(fields.get("stream", False))
    _refuse_unsupported(fields)
    messages = _read_messages(fields.get("messages"), parts)
    parts.check_empty(parts.last_user(messages))
    return ChatRequest(model, messages, stream, parts.wants_usage(fields.get("stream_options")))


def read_stream(value: object) -> bool:
    """The `stream` flag; raises `Refusal` for anything but a JSON boolean or null: `"false"` is true to `bool`."""
    if value is None or isinstance(value, bool):
        return bool(value)
    raise _invalid("stream", "must be a boolean")


def wants_usage(options: object) -> bool:
    """Whether the `stream_options` ask for a last chunk with the usage."""
    return isinstance(options, dict) and options.get("include_usage") is True


def as_asked(stream: bool, _headers: Mapping[str, str]) -> bool:
    """Whether the answer is streamed: as the body's flag says. Clients send any `Accept` header with either."""
    return stream


def read_content(content: object, where: str) -> str:
    """The text of a message's content: a string, or a list of text parts joined; raises `Refusal`."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        raise _invalid(where, "must be a string or a list of text parts")
    return "".join(_read_part(part, f"{where}[{index}]") for index, part in enumerate(content))


def last_user(messages: Sequence[Message]) -> Message:
    """The last message of the user, empty or not; raises `Refusal` when there is none."""
    for message in reversed(messages):
        if message.role == "user":
            return message
    raise _invalid("messages", "must hold a user message")


def accept_empty(message: Message) -> None:
    """What to do about the last user message's content: an empty one is as good as any other."""


def _decode(body: bytes) -> dict[str, Any]:
    try:
        fields = json.loads(body)
    except (ValueError, RecursionError):
        raise Refusal(400, "The body is not JSON.") from None
    if not isinstance(fields, dict):
        raise Refusal(400, "The body must be a JSON object.")
    return fields


def _refuse_unsupported(fields: dict[str, Any]) -> None:
    n, form, choice = fields.get("n"), fields.get("response_format"), fields.get("tool_choice")
    if isinstance(n, int | float) and n > 1:
        raise _invalid("n", "greater than 1 is not supported")
    if isinstance(form, dict) and form.get("type") != "text":
        raise _invalid("response_format", "other than text is not supported")
    if isinstance(choice, dict) or choice == "required":
        raise _invalid("tool_choice", "is not supported: an agent has tools of its own")
    if fields.get("logprobs") is True:
        raise _invalid("logprobs", "is not supported")


def _read_messages(values: object, parts: Parts) -> tuple[Message, ...]:
    if not isinstance(values, list) or not values:
        raise _invalid("messages", "must be a list that is not empty")
    return tuple(_read_message(value, f"messages[{index}]", parts) for index, value in enumerate(values))


def _read_message(value: object, where: str, parts: Parts) -> Message:
    if not isinstance(value, dict):
        raise _invalid(where, "must be an object")
    role = value.get("role")
    if role not in _ROLES:
        raise _invalid(f"{where}.role", f"must be one of {', '.join(_ROLES)}")
    content = value.get("content")
    if role == "assistant" and content is None:
        content = ""
    text = parts.read_content(content, f"{where}.content") + _tool_calls(value)
    if any("\ud800" <= character <= "\udfff" for character in text):
        raise _invalid(f"{where}.content", "holds an unpaired surrogate")
    return Message(role, text)


def _read_part(part: object, where: str) -> str:
    if not isinstance(part, dict):
        raise _invalid(where, "must be an object")
    name = _TEXT_PARTS.get(str(part.get("type")))
    if name is None:
        raise _invalid(where, f"of type {part.get('type')!r} is not supported: only text is")
    text = part.get(name)
    if not isinstance(text, str):
        raise _invalid(f"{where}.{name}", "must be a string")
    return text


def _tool_calls(message: dict[str, Any]) -> str:
    """Tool calls of the history as text, so that none is dropped in silence."""
    calls = message.get("tool_calls")
    if not isinstance(calls, list):
        return ""
    functions = [call.get("function") for call in calls if isinstance(call, dict)]
    named = [function for function in functions if isinstance(function, dict)]
    return "".join(f"[called {function.get('name')}: {function.get('arguments')}]" for function in named)


def _invalid(param: str, problem: str) -> Refusal:
    return Refusal(400, f"`{param}` {problem}.", param=param)
