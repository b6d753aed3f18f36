"""Events of an opencode server, shaped as the real one (1.18.33) sends them."""

from __future__ import annotations

from typing import Any

SESSION = "ses_1"
Event = dict[str, Any]


def event(kind: str, session: str | None = SESSION, **properties: Any) -> Event:
    owner = {} if session is None else {"sessionID": session}
    return {"id": "evt_1", "type": kind, "properties": {**owner, **properties}}


def status(kind: str) -> Event:
    return event("session.status", status={"type": kind})


def idle(session: str = SESSION) -> Event:
    return event("session.idle", session)


def error(name: str, session: str | None = SESSION) -> Event:
    return event("session.error", session, error={"name": name, "data": {"message": "m"}})


def user(message: str = "msg_u") -> Event:
    return event("message.updated", info={"id": message, "role": "user", "summary": {"diffs": []}})


def assistant(message: str, finish: str | None = None, session: str = SESSION, **info: Any) -> Event:
    given = {} if finish is None else {"finish": finish}
    return event(
        "message.updated", session, info={"id": message, "role": "assistant", "mode": "build", **given, **info}
    )


def summary(message: str, finish: str | None = None, **info: Any) -> Event:
    return assistant(message, finish, **{"mode": "compaction", "summary": True, **info})


def part(message: str, part_id: str, kind: str, **fields: Any) -> Event:
    return event("message.part.updated", part={"id": part_id, "messageID": message, "type": kind, **fields})


def text(message: str, part_id: str, content: str) -> Event:
    return part(message, part_id, "text", text=content, time={"start": 1, "end": 2})


def opened(message: str, part_id: str, kind: str = "text") -> Event:
    return part(message, part_id, kind, text="", time={"start": 1})


def delta(message: str, part_id: str, content: str, field: str = "text") -> Event:
    return event("message.part.delta", messageID=message, partID=part_id, field=field, delta=content)


def tokens(message: str, part_id: str, reason: str, **counts: int) -> Event:
    cache = {"read": counts.pop("read", 0), "write": counts.pop("write", 0)}
    base = {"input": 0, "output": 0, "reasoning": 0}
    return part(message, part_id, "step-finish", reason=reason, tokens={**base, **counts, "cache": cache})


def answer(content: str, message: str = "msg_a", finish: str = "stop") -> list[Event]:
    """A whole step with one text part, as it comes when the model answers."""
    return [
        assistant(message),
        part(message, message + "_s", "step-start"),
        opened(message, message + "_t"),
        delta(message, message + "_t", content),
        text(message, message + "_t", content),
        tokens(message, message + "_f", finish, input=10, output=2),
        assistant(message, finish),
    ]


def turn(*steps: list[Event]) -> list[Event]:
    """A whole turn of these steps."""
    return [user(), status("busy"), *(each for step in steps for each in step), status("idle"), idle()]
