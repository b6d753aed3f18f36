"""Opencode servers that are broken in what they tell, and to whom, while a turn goes as it should."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from harness.exchange import Request
from harness.fakes.opencode.answers import Answer, json_answer
from harness.fakes.opencode.behaviour import Behaviour, Event
from harness.mutants.mutant import Mutant, changing, remembering
from harness.mutants.opencode_changes import Body, Told, on, on_parts, part_of, to, with_properties
from harness.sse import encode

_SESSION = "/session/ses_[^/]{20,}"


def _without_header(request: Request) -> Request:
    kept = tuple((name, value) for name, value in request.headers if name != "x-opencode-directory")
    return replace(request, headers=kept)


def _same_id(event: Event) -> Told:
    return ({**event, "id": "evt_1"},)


def _silent_for_all(event: Event) -> bytes:
    beat = event.get("payload", {}).get("type") == "server.heartbeat"
    return b": nothing\n\n" if beat else encode(event)


def _title_alone(event: Event) -> Told:
    return (event,) if event["properties"]["info"]["title"] in ("A title", "another") else ()


def _without_message(event: Event) -> Told:
    properties = {key: value for key, value in event["properties"].items() if key != "messageID"}
    return ({**event, "properties": properties},)


def _without_cost(part: Body) -> Body:
    return {key: value for key, value in part.items() if key != "cost"}


def _nothing_counted(_request: Request, answer: Answer, body: Any) -> Answer:
    if answer.status != 200:
        return answer
    return json_answer({**body, "tokens": {**body["tokens"], "input": 0, "output": 0, "reasoning": 0}})


def _in_seconds(event: Event) -> Told:
    status = event["properties"]["status"]
    if "next" not in status:
        return (event,)
    return (with_properties(event, status={**status, "next": status["next"] // 1000}),)


def _busy_alone(_request: Request, _answer: Answer, body: Any) -> Answer:
    return json_answer({session: {"type": "busy"} for session in body})


def _children_untold(event: Event) -> Told:
    return () if "parentID" in event["properties"]["info"] else (event,)


class _NotBusyAgain:
    """Does not tell that a session is busy right behind a wait."""

    def __init__(self) -> None:
        self._waited: set[str] = set()

    def __call__(self, event: Event) -> Told:
        session = event["properties"].get("sessionID", "")
        status = event["properties"].get("status", {}).get("type") if event["type"] == "session.status" else None
        if status == "retry":
            self._waited.add(session)
        elif status is not None and session in self._waited:
            self._waited.discard(session)
            return () if status == "busy" else (event,)
        return (event,)


class _FirstCallAlone:
    """Tells of the first tool call of each message, and of others when they fail."""

    def __init__(self) -> None:
        self._first: dict[str, str] = {}

    def __call__(self, event: Event) -> Told:
        if event["type"] != "message.part.updated" or part_of(event)["type"] != "tool":
            return (event,)
        part = part_of(event)
        first = self._first.setdefault(part["messageID"], part["id"]) == part["id"]
        return (event,) if first or part["state"]["status"] == "error" else ()


HEARING: tuple[Mutant[Behaviour], ...] = (
    changing("header_ignored", "does not read the header's folder", "OS-EVENT-3", takes=_without_header),
    changing("newest_ear_only", "tells the last subscriber", "OS-EVENT-3", "OS-EVENT-6", newest_ear_only=True),
    changing("constant_event_id", "gives each event one id", "OS-EVENT-1", event=_same_id),
    changing("global_without_heartbeat", "sends /global/event no heartbeat", "OS-EVENT-2", encode=_silent_for_all),
    changing(
        "no_session_updated", "tells no change of a session", "OS-TURN-1", event=on("session.updated", _title_alone)
    ),
    changing("no_diff", "tells no diff", "OS-TURN-1", event=on("session.diff", lambda _event: ())),
    changing(
        "delta_without_message",
        "names no message in a delta",
        "OS-TURN-2",
        event=on("message.part.delta", _without_message),
    ),
    changing("cost_missing", "tells no cost", "OS-TURN-3", event=on_parts("step-finish", _without_cost)),
    changing(
        "session_uncounted", "counts nothing of a session", "OS-TURN-3", answer=to("GET", _SESSION, _nothing_counted)
    ),
    remembering("first_call_only", "tells one call of a step", "OS-TOOL-3", lambda: {"event": _FirstCallAlone()}),
    remembering("not_busy_again", "stays at retry", "OS-FAIL-2", lambda: {"event": _NotBusyAgain()}),
    changing("next_in_seconds", "tells seconds for next", "OS-ABORT-3", event=on("session.status", _in_seconds)),
    changing(
        "status_never_retry", "lists a wait as busy", "OS-ABORT-3", answer=to("GET", "/session/status", _busy_alone)
    ),
    changing(
        "compaction_untold",
        "tells no part of a compaction",
        "OS-COMPACT-2",
        event=on_parts("compaction", lambda _part: None),
    ),
    changing(
        "children_deleted_silently",
        "tells no child that is deleted",
        "OS-SESSION-4",
        event=on("session.deleted", _children_untold),
    ),
)
