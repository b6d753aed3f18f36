"""What `kilo run --format json` prints, from bytes to typed events: pure, and fed as the bytes come."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

_LONGEST_LINE = 64 * 2**20


@dataclass(frozen=True)
class StepStart:
    """A step of the turn begins, as the assistant message `message`."""

    message: str


@dataclass(frozen=True)
class Text:
    """A text; a compaction's comes out like this too, although it is a user message."""

    part: str
    message: str
    text: str


@dataclass(frozen=True)
class Reasoning:
    """What the model thought."""

    part: str
    message: str
    text: str


@dataclass(frozen=True)
class ToolUse:
    """A tool that has run; `output` is its error when it failed."""

    part: str
    message: str
    call: str
    tool: str
    input: Any
    output: str
    failed: bool


@dataclass(frozen=True)
class Tokens:
    """Tokens of a step; `output` holds those of the reasoning."""

    input: int
    output: int
    reasoning: int


@dataclass(frozen=True)
class StepFinish:
    """A step is over, for `reason`."""

    part: str
    message: str
    reason: str
    tokens: Tokens


@dataclass(frozen=True)
class Failed:
    """Something went wrong; a later step may mend it."""

    name: str
    message: str


Event = StepStart | Text | Reasoning | ToolUse | StepFinish | Failed
ReadEvent = Callable[[bytes], Event | None]


class EventParser:
    """Takes bytes as they come and gives events. What is not an event is skipped: Kilo mixes plain text in."""

    def __init__(self, read: ReadEvent) -> None:
        self._read = read
        self._rest = bytearray()

    def feed(self, data: bytes) -> list[Event]:
        """The events whose lines are whole now."""
        self._rest += data
        *lines, rest = self._rest.split(b"\n")
        self._rest = rest[-_LONGEST_LINE:]
        return self._events(lines)

    def close(self) -> list[Event]:
        """The event on a last line without an end."""
        last, self._rest = self._rest, bytearray()
        return self._events([last])

    def _events(self, lines: list[bytearray]) -> list[Event]:
        return [event for line in lines if (event := self._read(bytes(line))) is not None]


def read_event(line: bytes) -> Event | None:
    """The event on a line; None when there is none, or when it is of another role than the assistant."""
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(value, dict):
        return None
    part = value["part"] if isinstance(value.get("part"), dict) else {}
    if value.get("role", part.get("role", "assistant")) != "assistant":
        return None
    if value.get("type") == "error":
        return _failed(value.get("error"))
    make = _PARTS.get(_string(part.get("type")))
    return make(part) if make is not None else None


def _failed(error: object) -> Failed:
    if not isinstance(error, dict):
        return Failed("Error", _string(error) or json.dumps(error))
    data = error["data"] if isinstance(error.get("data"), dict) else {}
    return Failed(_string(error.get("name")) or "Error", _string(data.get("message")) or _string(error.get("message")))


def _tool(part: Mapping[str, Any]) -> ToolUse | None:
    state = part["state"] if isinstance(part.get("state"), dict) else {}
    failed = state.get("status") == "error"
    if not failed and state.get("status") != "completed":
        return None
    output = _string(state.get("error" if failed else "output"))
    return ToolUse(
        *_ids(part), _string(part.get("callID")), _string(part.get("tool")), state.get("input"), output, failed
    )


def _finish(part: Mapping[str, Any]) -> StepFinish:
    tokens = part["tokens"] if isinstance(part.get("tokens"), dict) else {}
    return StepFinish(*_ids(part), _string(part.get("reason")), read_tokens(tokens))


def read_tokens(tokens: Mapping[str, Any]) -> Tokens:
    """The tokens of a step.

    7.7.9 leaves the reasoning out of `output` and tells the `total`; 7.0.33 tells no total, and its `output` is all.
    """
    cache = tokens["cache"] if isinstance(tokens.get("cache"), dict) else {}
    read = _count(tokens.get("input")) + _count(cache.get("read")) + _count(cache.get("write"))
    total = tokens.get("total")
    written = _count(total) - read if total is not None else _count(tokens.get("output"))
    return Tokens(read, max(written, 0), _count(tokens.get("reasoning")))


def _ids(part: Mapping[str, Any]) -> tuple[str, str]:
    return _string(part.get("id")), _string(part.get("messageID"))


def _string(value: object) -> str:
    return value if isinstance(value, str) else ""


def _count(value: object) -> int:
    return int(value) if isinstance(value, int | float) else 0


_PARTS: dict[str, Callable[[Mapping[str, Any]], Event | None]] = {
    "step-start": lambda part: StepStart(_string(part.get("messageID"))),
    "text": lambda part: Text(*_ids(part), _string(part.get("text"))),
    "reasoning": lambda part: Reasoning(*_ids(part), _string(part.get("text"))),
    "tool": _tool,
    "step-finish": _finish,
}
