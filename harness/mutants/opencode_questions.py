"""Opencode servers that are broken in how they ask for permission and take the reply."""

from __future__ import annotations

from dataclasses import replace

from harness.exchange import Request
from harness.fakes.opencode.answers import Answer, json_answer, page
from harness.fakes.opencode.behaviour import Behaviour, Event
from harness.mutants.mutant import Mutant, changing, remembering
from harness.mutants.opencode_changes import (
    Body,
    Told,
    error_event,
    error_of,
    on,
    on_parts,
    part_of,
    status_for,
    to,
    tools_told,
    with_properties,
)

_OF_SESSION = "/session/[^/]+/permissions/[^/]+"


def _other_permission(event: Event) -> Told:
    outside = event["properties"]["permission"] == "external_directory"
    return (with_properties(event, permission="read") if outside else event,)


def _unless_once(event: Event) -> Told:
    return () if event["properties"]["reply"] == "once" else (event,)


def _refusal_is_error(event: Event) -> Told:
    part = part_of(event)
    refused = part["type"] == "tool" and str(part["state"].get("error", "")).endswith("this specific tool call.")
    return (event, error_event(event["properties"]["sessionID"], "UnknownError")) if refused else (event,)


class _ForgetsAborted:
    """Lists no permission once a turn was aborted, until another is asked for."""

    def __init__(self) -> None:
        self._forgets = False

    def event(self, event: Event) -> Told:
        if event["type"] == "permission.asked":
            self._forgets = False
        elif event["type"] == "session.error" and error_of(event)[0] == "MessageAbortedError":
            self._forgets = True
        return (event,)

    def answer(self, request: Request, answer: Answer) -> Answer:
        asked = (request.method, request.path) == ("GET", "/permission")
        return json_answer([]) if asked and self._forgets else answer


def _forgets_aborted() -> Body:
    flaw = _ForgetsAborted()
    return {"event": flaw.event, "answer": flaw.answer}


def _still_running(part: Body) -> Body | None:
    return None if part["state"].get("error") == "Tool execution aborted" else part


def _answers_kept(text: str) -> str:
    return "The user has answered." if text.startswith("User has answered") else text


def _always_refused(request: Request) -> Request:
    if not request.path.startswith("/permission/") or request.json() != {"reply": "always"}:
        return request
    return replace(request, body=b'{"reply": "reject"}')


def _without_feedback(text: str) -> str:
    return text.partition(" with the following feedback")[0]


QUESTIONS: tuple[Mutant[Behaviour], ...] = (
    changing("asks_for_read", "asks for another thing", "OS-ASK-1", event=on("permission.asked", _other_permission)),
    changing("yes_untold", "does not tell a yes", "OS-ASK-2", event=on("permission.replied", _unless_once)),
    changing("no_is_error", "takes a no for an error", "OS-ASK-3", event=on("message.part.updated", _refusal_is_error)),
    changing("feedback_lost", "loses the reason of a no", "OS-ASK-4", model_call=tools_told(_without_feedback)),
    remembering("question_forgotten", "forgets at abort", "OS-ASK-5", _forgets_aborted),
    changing(
        "any_reply",
        "takes any reply",
        "OS-ASK-6",
        answer=to("POST", "/permission/[^/]+/reply", status_for(400, 200)),
    ),
    changing("aborted_tool_runs", "leaves an aborted tool", "OS-ASK-5", event=on_parts("tool", _still_running)),
    changing("one_route", "has no reply by the session", "OS-ASK-2", answer=to("POST", _OF_SESSION, lambda *_: page())),
    changing("answers_kept", "keeps the answer from the model", "OS-ASK-7", model_call=tools_told(_answers_kept)),
    changing("asks_everywhere", "asks in all folders", "OS-ASK-8", asks_per_directory=False),
    changing("always_refused", "takes always for a no", "OS-REPLY-2", takes=_always_refused),
    changing("answer_untold", "tells no answer", "OS-ASK-7", event=on("question.replied", lambda _event: ())),
    changing("rejection_untold", "tells no rejection", "OS-ASK-7", event=on("question.rejected", lambda _event: ())),
    changing("refuses_one", "leaves the others open", "OS-REPLY-1", refuses_all=False),
    changing("forgets_always", "asks again after always", "OS-REPLY-2", remembers_always=False),
)
