"""Opencode servers that are broken in what they do when a model fails, a window is full or a turn is aborted."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from harness.exchange import Request
from harness.fakes.opencode.answers import Answer, json_answer
from harness.fakes.opencode.behaviour import Behaviour, Event, finish
from harness.fakes.opencode.retry import is_overflow, retry_seconds
from harness.mutants.mutant import Mutant, changing, remembering
from harness.mutants.opencode_changes import (
    MESSAGES,
    Told,
    error_as_500,
    error_event,
    error_of,
    on,
    to,
    with_properties,
)


def _errors_renamed(name: str, other: str, beginning: str = "") -> Callable[[Event], Told]:
    def rename(event: Event) -> Told:
        found, message = error_of(event)
        if found != name or not message.startswith(beginning):
            return (event,)
        return (with_properties(event, error={**event["properties"]["error"], "name": other}),)

    return on("session.error", rename)


def _retryable(event: Event) -> Told:
    error = event["properties"]["error"]
    if error["name"] != "APIError":
        return (event,)
    return (with_properties(event, error={**error, "data": {**error["data"], "isRetryable": True}}),)


def _mute_retry(event: Event) -> Told:
    status = event["properties"]["status"]
    if "connection" not in status.get("message", ""):
        return (event,)
    return (with_properties(event, status={**status, "message": "trying again"}),)


def _deleted_and_idle(event: Event) -> Told:
    session = event["properties"]["sessionID"]
    return event, {"id": "evt_flaw", "type": "session.idle", "properties": {"sessionID": session}}


class _CompactedOnce:
    """Tells of the first compaction of a session only."""

    def __init__(self) -> None:
        self._told: set[str] = set()

    def __call__(self, event: Event) -> Told:
        if event["type"] != "session.compacted":
            return (event,)
        session = event["properties"]["sessionID"]
        again = session in self._told
        self._told.add(session)
        return () if again else (event,)


class _AbortOfWaitIsError:
    """Puts an error before an idle that follows a wait."""

    def __init__(self) -> None:
        self._waiting: set[str] = set()

    def __call__(self, event: Event) -> Told:
        session = event["properties"].get("sessionID", "")
        status = event["properties"].get("status", {}).get("type") if event["type"] == "session.status" else None
        if status == "retry":
            self._waiting.add(session)
        elif status == "busy":
            self._waiting.discard(session)
        elif status == "idle" and session in self._waiting:
            self._waiting.discard(session)
            return error_event(session), event
        return (event,)


class _EarlyAbortIsError:
    """Puts an error before the idle of a session that was never busy."""

    def __init__(self) -> None:
        self._busy: set[str] = set()

    def __call__(self, event: Event) -> Told:
        session = event["properties"].get("sessionID", "")
        status = event["properties"].get("status", {}).get("type") if event["type"] == "session.status" else None
        if status == "busy":
            self._busy.add(session)
        return (error_event(session), event) if status == "idle" and session not in self._busy else (event,)


def _without_abandoned(_request: Request, answer: Answer, body: Any) -> Answer:
    if answer.status != 200:
        return answer
    return json_answer([{**m, "parts": [p for p in m["parts"] if p.get("text") != ""]} for m in body])


def _without_summary(_request: Request, answer: Answer, body: Any) -> Answer:
    if answer.status != 200:
        return answer
    told = [{key: value for key, value in m["info"].items() if value is not True} for m in body]
    return json_answer([{**m, "info": info} for m, info in zip(body, told, strict=True)])


def _same_wait(_attempt: int, headers: dict[str, str]) -> float:
    return retry_seconds(1, headers)


def _own_wait(attempt: int, _headers: dict[str, str]) -> float:
    return retry_seconds(attempt, {})


def _of_400(status: int, message: str) -> bool:
    return status == 400 and is_overflow(message)


def _own_finish(reason: str | None) -> str:
    return finish(reason) if reason is None or finish(reason) != "unknown" else "other"


FAILURES: tuple[Mutant[Behaviour], ...] = (
    changing("refusal_retryable", "calls all retryable", "OS-FAIL-1", event=on("session.error", _retryable)),
    changing("three_retries", "gives up after three", "OS-FAIL-2", max_retries=3),
    changing("wish_ignored", "waits as it likes", "OS-FAIL-2", "OS-ABORT-3", retry_after=_own_wait),
    changing("same_waits", "always waits as long", "OS-FAIL-3", retry_after=_same_wait),
    changing("type_ignored", "looks at the status alone", "OS-FAIL-4", retried_types=frozenset()),
    changing("abandoned_dropped", "lists no empty text", "OS-FAIL-5", answer=to("GET", MESSAGES, _without_abandoned)),
    changing("mute_retry", "does not say what broke", "OS-FAIL-6", event=on("session.status", _mute_retry)),
    changing(
        "bad_event_api_error",
        "tells a bad event as APIError",
        "OS-FAIL-7",
        event=_errors_renamed("UnknownError", "APIError", "JSON parsing failed"),
    ),
    changing("own_finish", "ends after an odd reason", "OS-FAIL-8", finish=_own_finish),
    changing("stream_retried", "tries each error in a stream again", "OS-FAIL-7", tries_again=lambda _error: True),
    changing("ends_unfinished", "ends without finish", "OS-FAIL-8", goes_on_after=frozenset({"tool-calls"})),
    changing(
        "overflow_api_error",
        "tells an overflow as APIError",
        "OS-COMPACT-1",
        event=_errors_renamed("ContextOverflowError", "APIError"),
    ),
    changing("overflow_by_status", "takes a 400 alone for an overflow", "OS-COMPACT-1", overflows=_of_400),
    changing("summary_unmarked", "marks no summary", "OS-COMPACT-2", answer=to("GET", MESSAGES, _without_summary)),
    remembering("compacted_once", "tells one compaction", "OS-COMPACT-3", lambda: {"event": _CompactedOnce()}),
    changing(
        "abort_unknown_error",
        "tells an abort as UnknownError",
        "OS-ABORT-1",
        "OS-ABORT-7",
        "OS-ABORT-8",
        "OS-CHILD-3",
        event=_errors_renamed("MessageAbortedError", "UnknownError"),
    ),
    changing(
        "abort_404",
        "refuses to abort nothing",
        "OS-ABORT-2",
        answer=to("POST", "/session/ses_x/abort", lambda *_: json_answer({"name": "NotFoundError"}, 404)),
    ),
    remembering("wait_abort_error", "tells a wait's abort", "OS-ABORT-3", lambda: {"event": _AbortOfWaitIsError()}),
    changing("early_abort_lost", "loses an early abort", "OS-ABORT-4", aborts_early=False),
    remembering("early_abort_error", "tells an early abort", "OS-ABORT-4", lambda: {"event": _EarlyAbortIsError()}),
    changing(
        "aborted_500",
        "answers an aborted call with 500",
        "OS-ABORT-5",
        answer=to("POST", MESSAGES, error_as_500("MessageAbortedError")),
    ),
    changing("deleted_idle", "tells the deleted idle", "OS-ABORT-6", event=on("session.deleted", _deleted_and_idle)),
)
