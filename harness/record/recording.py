"""A recording: what one scenario came to, in a form in which two servers of the same behaviour come to the same."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from harness.exchange import Exchange, parse_json
from harness.fakes.model.script import call_kind, text_of
from harness.record.normal import Normal, shortened
from harness.record.stage import Answered, Event, Heard

RECORDINGS = Path(__file__).parent.parent / "fixtures" / "recordings"

_BESIDE = frozenset({"session.updated", "session.diff"})
"""Events of jobs beside the turn, which fall in anywhere."""

_START = (
    "plugin.",
    "catalog.",
    "reference.",
    "integration.",
    "project.",
    "mcp.",
    "lsp.",
    "vcs.",
    "file.",
    "models.",
    "sync",
)
"""Beginnings of events that tell of the server's own work: taking up a directory, keeping its copies alike."""

_WAITS, _LATE = (0, 1, 2, 4, 8, 16, 20, 30), 0.3
"""Waits before a retry, in seconds: the server waits up to a quarter longer, and its word may be late by so much."""

_ASKED = 100
"""Characters beyond which a user message of a summary call is the server's own request for it."""

_SHOWN_HEADERS = ("www-authenticate", "content-type", "allow")


def recording(
    about: str,
    calls: Iterable[Answered],
    heard: Iterable[Heard],
    models: Iterable[Exchange],
    places: Mapping[str, str],
    pace: float = 1.0,
) -> dict[str, Any]:
    """The recording of a scenario as a JSON object; `places` are addresses and paths with their names.

    Waits of a server that is `pace` times as fast are told as those of a real one.
    """
    normal = Normal(places)
    kept: dict[str, Any] = {
        "about": about,
        "calls": [_call(call) for call in calls],
        "streams": [_stream(one, pace) for one in heard],
        "model": [_model_call(call.request.json(), call) for call in models],
    }
    return {key: shortened(normal.value(value)) for key, value in kept.items()}


def _call(call: Answered) -> dict[str, Any]:
    headers = {name: call.headers[name] for name in _SHOWN_HEADERS if name in call.headers}
    return {"asked": f"{call.method} {call.target}", "sent": call.sent, "status": call.status, "headers": headers} | (
        {"body": _body(call)} if call.body else {}
    )


def _body(call: Answered) -> Any:
    body = parse_json(call.body)
    if body is None:
        return "<html>" if b"<html" in call.body[:200] else call.body.decode("utf-8", "replace")
    if isinstance(body, dict) and "openapi" in body:
        schemas = body.get("components", {}).get("schemas", {})
        errors = sorted(name for name in schemas if "Error" in name)
        return {"openapi": body["openapi"], "paths": sorted(body["paths"]), "errors": errors}
    return body


def _stream(heard: Heard, pace: float) -> dict[str, Any]:
    """A subscription: each session's events in their order, and which of the jobs beside the turn there were."""
    sessions: dict[str, list[Any]] = {}
    beside: set[str] = set()
    beats: list[float] = []
    for at, event in heard.events:
        inner = {"properties": {}, **event.get("payload", event)}
        if inner["type"] == "server.heartbeat":
            beats.append(at)
        elif is_beside(inner):
            beside.add(inner["type"])
        elif not inner["type"].startswith(_START):
            sessions.setdefault(str(inner["properties"].get("sessionID")), []).append(_event(at, event, pace))
    kept = {"of": heard.name, "sessions": list(sessions.values()), "beside": sorted(beside)}
    return kept | ({"seconds between heartbeats": round((beats[1] - beats[0]) * pace)} if len(beats) > 1 else {})


def is_beside(event: Event) -> bool:
    """Whether an event is of a job that runs beside the turn, so that its place among the others is not settled."""
    info = event["properties"].get("info", {})
    of_user = event["type"] == "message.updated" and info.get("role") == "user" and "summary" in info
    return event["type"] in _BESIDE or of_user


def _event(at: float, event: Event, pace: float) -> Any:
    if "payload" in event:
        return {**event, "payload": _event(at, event["payload"], pace)}
    kept = {key: value for key, value in event.items() if key != "id"}
    status = event.get("properties", {}).get("status")
    if isinstance(status, dict) and "next" in status:
        wait = max(step for step in _WAITS if step <= (status["next"] / 1000 - at) * pace + _LATE)
        kept = {
            "type": event["type"],
            "properties": {**event["properties"], "status": {**status, "next": f"<in {wait} s>"}},
        }
    return kept


def _model_call(body: Any, call: Exchange) -> dict[str, Any]:
    tools = sorted(tool["function"]["name"] for tool in body.get("tools", ()))
    options = {key: value for key, value in body.items() if key not in ("messages", "tools")}
    messages = [_message(message, call_kind(body)) for message in body["messages"]]
    return {**options, "tools": tools, "messages": messages, "answered": call.status}


def _message(message: dict[str, Any], kind: str) -> dict[str, Any]:
    """A message whose content keeps its shape: a text, or a list of parts."""
    content = message.get("content")
    if message["role"] == "system":
        return {**message, "content": f"<the system text of a {kind}>"}
    if kind == "summary" and message["role"] == "user" and len(text_of(content)) > _ASKED:
        return {**message, "content": "<what is to be summed up>"}
    return {**message, "content": _unreminded(content)}


def _unreminded(content: Any) -> Any:
    """Texts without what the server reminds the model of."""
    if isinstance(content, str):
        return content.partition("<system-reminder>")[0]
    if isinstance(content, list):
        return [{key: _unreminded(value) for key, value in part.items()} for part in content]
    return content


def write(folder: Path, name: str, kept: Mapping[str, Any]) -> None:
    """Write a recording as JSON, one event or call a line where it fits."""
    folder.mkdir(parents=True, exist_ok=True)
    lines = ["{"]
    for at, (key, value) in enumerate(kept.items()):
        comma = "," if at < len(kept) - 1 else ""
        if isinstance(value, list) and value:
            items = ",\n".join(f"  {_compact(item)}" for item in value)
            lines.append(f' "{key}": [\n{items}\n ]{comma}')
        else:
            lines.append(f' "{key}": {_compact(value)}{comma}')
    (folder / f"{name}.json").write_text("\n".join([*lines, "}", ""]), encoding="utf-8")


def _compact(value: Any) -> str:
    return json.dumps(value, ensure_ascii=True, sort_keys=True, separators=(",", ":"))


def read(version: str) -> dict[str, Any]:
    """All recordings of an opencode version, by the scenario's name; empty when there are none."""
    folder = RECORDINGS / f"opencode-{version}"
    return {path.stem: json.loads(path.read_text(encoding="utf-8")) for path in sorted(folder.glob("*.json"))}


def versions() -> tuple[str, ...]:
    """The opencode versions of which there are recordings, oldest first."""
    names = (path.name.removeprefix("opencode-") for path in RECORDINGS.glob("opencode-*"))
    return tuple(sorted(names, key=lambda version: [int(part) for part in version.split(".")]))
