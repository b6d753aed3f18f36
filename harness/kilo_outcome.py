"""What a start came to, without what differs from one run to the next: the form in which starts are compared."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from harness.exchange import Exchange, parse_json
from harness.fakes.model.script import messages_of
from harness.kilo_cli import Ran

Event = dict[str, Any]

_TIME, _COUNT = "<time>", "<count>"
_TOLD = frozenset({"type", "status", "reason", "name", "tool"})
_TIMES = frozenset({"timestamp", "start", "end", "elapsed", "generation"})
_COUNTS = frozenset({"total", "input"})
_IDS = frozenset({"id", "sessionID", "messageID", "ref"})
_CHATTY = frozenset({"date", "connection", "keep-alive", "transfer-encoding", "content-length"})
_COLOUR = "\x1b["
_GUESS = re.compile(r" Did you mean: [^?]*\?")
_OPTION = re.compile(r"(?<![\w-])--[a-z][a-z-]*")


def events_of(ran: Ran) -> list[Event]:
    """The events on standard output, in their order: the lines that are JSON objects."""
    values = [parse_json(line.encode()) for line in ran.stdout.split("\n")]
    return [value for value in values if isinstance(value, dict)]


def stray_lines(ran: Ran) -> list[str]:
    """The lines on standard output that are no events."""
    return [line for line in ran.stdout.split("\n") if line and not isinstance(parse_json(line.encode()), dict)]


def complaints(ran: Ran) -> list[str]:
    """What standard error says to people in colour, each once."""
    lines = (line for line in ran.stderr.splitlines() if line.startswith(_COLOUR))
    return list(dict.fromkeys(line.partition("\x1b[0m")[2] for line in lines))


def options_in(ran: Ran) -> list[str]:
    """The options that either stream names, as a help text does, in alphabetical order."""
    return sorted(set(_OPTION.findall(ran.stdout + ran.stderr)))


def shape(value: Any, key: str = "") -> Any:
    """A JSON value with every value but names and reasons replaced by its type; headers are not told apart."""
    if isinstance(value, dict):
        return "object" if key in ("input", "responseHeaders") else {k: shape(v, k) for k, v in sorted(value.items())}
    if isinstance(value, list):
        return [shape(value[0])] if value else []
    if value in (_TIME, _COUNT) or (key in _TOLD and isinstance(value, str)):
        return value
    return "null" if value is None else {bool: "boolean", str: "string"}.get(type(value), "number")


def outline(event: Event) -> str:
    """An event in a few words: its type, and why a step finished, what an error is, or who wrote a text."""
    part, error = event.get("part", {}), event.get("error")
    kind = str(event.get("type"))
    if kind == "error":
        return f"error {error['name']}: {error['data'].get('message')}" if isinstance(error, dict) else f"error {error}"
    if kind == "step_finish":
        return f"step_finish {part.get('reason')}"
    if kind == "tool_use":
        return f"tool_use {part.get('tool')} {part.get('state', {}).get('status')}"
    return f"{kind} synthetic" if part.get("synthetic") else kind


def turn_calls(calls: Iterable[Exchange]) -> list[Exchange]:
    """The model calls that are steps of a turn: those that offer tools."""
    return [call for call in calls if (call.request.json() or {}).get("tools")]


def characters(body: Mapping[str, Any]) -> int:
    """The characters of a request's messages and tools, as compact JSON."""
    parts = (body.get("messages", []), body.get("tools", []))
    return sum(len(json.dumps(part, ensure_ascii=False, separators=(",", ":"))) for part in parts)


def prompt_of(body: Mapping[str, Any]) -> Any:
    """The content of a request's first user message, where it is a list the texts of its parts; what it says about the
    surroundings is left out."""
    content = next((m.get("content") for m in body.get("messages", []) if m.get("role") == "user"), None)
    if isinstance(content, list):
        return [p.get("text") for p in content if "<environment_details>" not in str(p.get("text"))]
    return content


def sent_back(body: Mapping[str, Any]) -> list[dict[str, Any]]:
    """What a request's assistant messages hold besides role, content and tool calls."""
    known = ("role", "content", "tool_calls")
    spoken = [m for m in body.get("messages", []) if m.get("role") == "assistant"]
    return [{key: value for key, value in message.items() if key not in known} for message in spoken]


def outcome(ran: Ran, calls: Sequence[Exchange], words: Mapping[str, str]) -> dict[str, Any]:
    """What a start came to as a JSON object; `words` are texts with what to write in their stead."""
    normal = _Normal(words)
    return {
        "status": ran.status,
        "events": [normal.value(event) for event in events_of(ran)],
        "stray lines": [normal.text(line) for line in stray_lines(ran)],
        "options": options_in(ran),
        "complaints": [normal.text(line) for line in complaints(ran)],
        "calls": [_call(call, normal) for call in calls],
        "hosts": list(ran.hosts),
        "home": sorted(ran.home),
    }


def _call(call: Exchange, normal: _Normal) -> dict[str, Any]:
    body = call.request.json() or {}
    options = {key: value for key, value in body.items() if key not in ("messages", "tools")}
    system = sum(len(text) for role, text in messages_of(body) if role == "system")
    tools = [tool["function"]["name"] for tool in body.get("tools", ())]
    return {
        **options,
        "path": call.request.path,
        "answered": call.status,
        "characters": characters(body),
        "system": system,
        "tools": tools,
        "roles": [role for role, _ in messages_of(body)],
        **({"prompt": normal.value(prompt_of(body)), "sent back": normal.value(sent_back(body))} if tools else {}),
    }


class _Normal:
    """Replaces what differs. Ids are numbered in the order in which they are first seen; what the CLI's catalogue
    suggests, and what it says in the user's name, is left out."""

    def __init__(self, words: Mapping[str, str]) -> None:
        self._words = words
        self._ids: dict[str, str] = {}

    def text(self, value: str) -> str:
        for word, name in self._words.items():
            value = value.replace(word, name)
        return _GUESS.sub("", value)

    def value(self, value: Any, key: str = "") -> Any:
        if isinstance(value, dict):
            kept = sorted((k, v) for k, v in value.items() if k.lower() not in _CHATTY)
            if value.get("synthetic"):
                kept = [(k, "<synthetic>" if k == "text" else v) for k, v in kept]
            return {k: self.value(v, k) for k, v in kept}
        if isinstance(value, list):
            return [self.value(item) for item in value]
        number = isinstance(value, int | float) and not isinstance(value, bool)
        if number and key in _TIMES:
            return _TIME
        if number and key in _COUNTS:
            return _COUNT
        if isinstance(value, str) and key in _IDS:
            return self._ids.setdefault(value, f"{value.partition('_')[0]}_{len(self._ids) + 1}")
        return self.text(value) if isinstance(value, str) else value
