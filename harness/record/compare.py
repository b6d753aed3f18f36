"""Where two recordings of one scenario differ."""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterator, Mapping
from typing import Any

UNSETTLED = frozenset({"abort_at_once", "abort_with_asking_child", "cut"})
"""Scenarios that come out one way or the other by chance: an abort that races with the turn, or with its next step, and
how much of the text that came right before a connection broke off is seen."""


def lines(kept: Mapping[str, Any]) -> list[str]:
    """A recording as lines that can be compared: one for each call, event and model call, in a fixed order."""
    said = [f"{call['asked']} {_json(call['sent'])} -> {call['status']} {_answer(call)}" for call in kept["calls"]]
    for stream in kept["streams"]:
        said.append(f"{stream['of']} beside: {', '.join(stream['beside'])}")
        for session in stream["sessions"]:
            said += _events(session)
    return said + [f"model {_json(call)}" for call in sorted(kept["model"], key=_is_for_title)]


def _is_for_title(call: Mapping[str, Any]) -> bool:
    """Titles are made beside the turn: their calls come last here, whenever they came."""
    return any(message["content"] == "<the system text of a title>" for message in call["messages"])


def _answer(call: Mapping[str, Any]) -> str:
    return _json({key: call[key] for key in ("headers", "body") if key in call})


def _events(events: list[dict[str, Any]]) -> Iterator[str]:
    """Events as lines. An assistant message is told at its first and last update only: the server sends its state
    of the moment at which the event leaves, not of that at which it was made."""
    inner = [event.get("payload", event) for event in events]
    last = {_of_assistant(event): index for index, event in enumerate(inner)}
    for index, event in enumerate(inner):
        message = _of_assistant(event)
        if message is None or last[message] == index:
            yield f"{event['type']} {_json(event.get('properties', {}))}"
        else:
            yield f"{event['type']} {message}"


def _of_assistant(event: Mapping[str, Any]) -> str | None:
    info = event.get("properties", {}).get("info", {})
    return str(info["id"]) if event["type"] == "message.updated" and info.get("role") == "assistant" else None


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def differences(one: Mapping[str, Any], other: Mapping[str, Any]) -> list[str]:
    """The lines that only one of two recordings has: `- ` the first, `+ ` the second; empty when they agree."""
    return [line for line in difflib.ndiff(lines(one), lines(other)) if line[:2] in ("- ", "+ ")]


def outline(kept: Mapping[str, Any]) -> list[str]:
    """What chance does not decide of an unsettled scenario: what calls are answered, how often the model is called, how
    each session's status goes, and the texts that were told whole."""
    said = [f"{call['asked']} -> {call['status']}" for call in kept["calls"]]
    for session in (session for stream in kept["streams"] for session in stream["sessions"]):
        said += [line for event in session for line in _outlined(event)]
    return [*said, f"{len(kept['model'])} model calls"]


def _outlined(event: Mapping[str, Any]) -> Iterator[str]:
    properties = event.get("properties", {})
    part = properties.get("part", {})
    if event["type"] == "session.status":
        yield _json({key: value for key, value in properties["status"].items() if key != "message"})
    elif event["type"] in ("session.error", "session.idle"):
        yield event["type"]
    elif part.get("type") == "text" and "end" in part.get("time", {}) and part["text"]:
        yield part["text"]
