"""From a Responses API request to the one text that the Kilo CLI takes."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from harness.reference.kilo.refusal import Refusal

_ROLES = {"system": "System", "developer": "System", "user": "User", "assistant": "Assistant"}
_TEXTS = {"input_text": "text", "output_text": "text", "text": "text", "refusal": "refusal"}


@dataclass(frozen=True)
class Said:
    """One piece of the conversation; `speaker` is how a transcript names who said it."""

    speaker: str
    text: str


def read_request(body: object) -> tuple[Said, ...]:
    """The conversation of a request, its instructions first; raises Refusal for what cannot be passed on."""
    if not isinstance(body, Mapping):
        raise Refusal(400, "The body must be a JSON object.")
    if body.get("stream"):
        raise Refusal(400, "Streaming is not supported.", "stream")
    if body.get("previous_response_id") is not None:
        raise Refusal(400, "Nothing is stored here: send the whole conversation.", "previous_response_id")
    instructions = body.get("instructions")
    if instructions is not None and not isinstance(instructions, str):
        raise Refusal(400, "The instructions must be a string.", "instructions")
    first = (Said("System", instructions),) if instructions else ()
    return (*first, *_read_input(body.get("input")))


def render(system_prompt: str | None, conversation: Sequence[Said]) -> str:
    """The text of the prompt: a single message of the user as it is, anything more as a transcript."""
    said = [Said("System", system_prompt)] if system_prompt else []
    said += conversation
    first, *more = said
    if not more and first.speaker == "User":
        return first.text
    return "\n\n".join(f"{piece.speaker}: {piece.text}" for piece in said)


def _read_input(value: object) -> tuple[Said, ...]:
    if isinstance(value, str):
        return (Said("User", value),)
    if not isinstance(value, list) or not value:
        raise Refusal(400, "The input must be a string, or a list that is not empty.", "input")
    said = tuple(_read_item(item, f"input[{index}]") for index, item in enumerate(value))
    if not any(piece.speaker == "User" for piece in said):
        raise Refusal(400, "The input must hold a message of the user.", "input")
    return said


def _read_item(item: object, where: str) -> Said:
    if not isinstance(item, Mapping):
        raise Refusal(400, f"{where} must be an object.", where)
    kind = item.get("type", "message")
    if kind == "function_call":
        return Said("Assistant", f"(called {item.get('name')} with {item.get('arguments')})")
    if kind == "function_call_output":
        return Said("Tool", _text(item.get("output"), where))
    if kind == "reasoning":
        return Said("Assistant", f"(thought: {_reasoning(item, where)})")
    role = item.get("role")
    if kind != "message" or not isinstance(role, str) or role not in _ROLES:
        raise Refusal(400, f"{where} is of a kind or role that is not supported: {json.dumps(kind)}.", where)
    return Said(_ROLES[role], _text(item.get("content"), where))


def _text(content: object, where: str) -> str:
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        raise Refusal(400, f"The content of {where} must be a string or a list of texts.", where)
    return "".join(_part(part, where) for part in content)


def _part(part: object, where: str) -> str:
    if isinstance(part, Mapping):
        text = part.get(_TEXTS.get(str(part.get("type")), ""))
        if isinstance(text, str):
            return text
    raise Refusal(400, f"{where} holds a part that is no text.", where)


def _reasoning(item: Mapping[str, Any], where: str) -> str:
    told = [item.get(name) or [] for name in ("summary", "content")]
    if not all(isinstance(parts, list) for parts in told):
        raise Refusal(400, f"The summary and the content of {where} must be lists of texts.", where)
    return " ".join(str(part.get("text", "")) for parts in told for part in parts if isinstance(part, Mapping))
