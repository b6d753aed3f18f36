"""Broken opencode servers, each a small change to the behaviour of the stand-in."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterable
from typing import Any

from harness.exchange import Request, parse_json
from harness.fakes.opencode.answers import Answer, json_answer
from harness.fakes.opencode.behaviour import Behaviour, Event
from harness.fakes.opencode.prompts import TITLE, TURN
from harness.fakes.opencode.retry import retry_seconds
from harness.fakes.opencode.serve import main
from harness.mutants.mutant import Mutant, changing, named, remembering

Body = dict[str, Any]
Told = Iterable[Event]


# Events


def _on(kind: str, change: Callable[[Event], Told]) -> Callable[[Event], Told]:
    return lambda event: change(event) if event["type"] == kind else (event,)


def _with(event: Event, **properties: Any) -> Event:
    return {**event, "properties": {**event["properties"], **properties}}


def _error_of(event: Event) -> tuple[str, str]:
    error = event["properties"]["error"]
    return str(error["name"]), str(error["data"].get("message", ""))


def _error_event(session: str, name: str = "MessageAbortedError") -> Event:
    error = {"name": name, "data": {"message": "Aborted"}}
    properties = {"sessionID": session, "error": error}
    return {"id": "evt_flaw", "type": "session.error", "properties": properties}


def _errors_dropped(name: str, beginning: str = "") -> Callable[[Event], Told]:
    def drop(event: Event) -> Told:
        found, message = _error_of(event)
        return () if found == name and message.startswith(beginning) else (event,)

    return _on("session.error", drop)


def _errors_renamed(name: str, other: str, beginning: str = "") -> Callable[[Event], Told]:
    def rename(event: Event) -> Told:
        found, message = _error_of(event)
        if found != name or not message.startswith(beginning):
            return (event,)
        return (_with(event, error={**event["properties"]["error"], "name": other}),)

    return _on("session.error", rename)


def _part(event: Event) -> Body:
    return dict(event["properties"]["part"])


def _on_parts(kind: str, change: Callable[[Body], Body | None]) -> Callable[[Event], Told]:
    def changed(event: Event) -> Told:
        part = _part(event)
        if part["type"] != kind:
            return (event,)
        other = change(part)
        return () if other is None else (_with(event, part=other),)

    return _on("message.part.updated", changed)


def _finished(info: Body) -> Body:
    return {"finish": "stop", **info} if info["role"] == "assistant" else info


def _without_busy(event: Event) -> Told:
    return () if event["properties"]["status"] == {"type": "busy"} else (event,)


def _half_text(part: Body) -> Body:
    whole = "end" in part.get("time", {})
    return {**part, "text": part["text"][: len(part["text"]) // 2]} if whole else part


def _wrong_total(part: Body) -> Body:
    return {**part, "tokens": {**part["tokens"], "total": part["tokens"]["output"]}}


def _length_as_stop(part: Body) -> Body:
    return {**part, "reason": "stop"} if part["reason"] == "length" else part


def _without_pending(part: Body) -> Body | None:
    return None if part["state"]["status"] == "pending" else part


def _without_id(event: Event) -> Told:
    return ({key: value for key, value in event.items() if key != "id"},)


def _retryable(event: Event) -> Told:
    error = event["properties"]["error"]
    if error["name"] != "APIError":
        return (event,)
    return (_with(event, error={**error, "data": {**error["data"], "isRetryable": True}}),)


def _mute_retry(event: Event) -> Told:
    status = event["properties"]["status"]
    if "connection" not in status.get("message", ""):
        return (event,)
    return (_with(event, status={**status, "message": "trying again"}),)


def _deleted_and_idle(event: Event) -> Told:
    session = event["properties"]["sessionID"]
    return event, {"id": "evt_flaw", "type": "session.idle", "properties": {"sessionID": session}}


def _other_permission(event: Event) -> Told:
    outside = event["properties"]["permission"] == "external_directory"
    return (_with(event, permission="read") if outside else event,)


def _unless_once(event: Event) -> Told:
    return () if event["properties"]["reply"] == "once" else (event,)


def _refusal_is_error(event: Event) -> Told:
    part = _part(event)
    refused = part["type"] == "tool" and str(part["state"].get("error", "")).endswith("this specific tool call.")
    return (event, _error_event(event["properties"]["sessionID"], "UnknownError")) if refused else (event,)


def _orphan(event: Event) -> Told:
    info = {key: value for key, value in event["properties"]["info"].items() if key != "parentID"}
    return (_with(event, info=info),)


class _DeltasOfAnother:
    """Tells a delta as another busy session's."""

    def __init__(self) -> None:
        self._busy: dict[str, None] = {}

    def __call__(self, event: Event) -> Told:
        session = event["properties"].get("sessionID", "")
        if event["type"] == "session.status":
            self._busy[session] = None
            if event["properties"]["status"]["type"] == "idle":
                self._busy.pop(session)
        if event["type"] == "session.deleted":
            self._busy.pop(session, None)
        others = [other for other in self._busy if other != session]
        if event["type"] == "message.part.delta" and others:
            return (_with(event, sessionID=others[0]),)
        return (event,)


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
            return _error_event(session), event
        return (event,)


class _ForgetsAborted:
    """Lists no permission once a turn was aborted, until another is asked for."""

    def __init__(self) -> None:
        self._forgets = False

    def event(self, event: Event) -> Told:
        if event["type"] == "permission.asked":
            self._forgets = False
        elif event["type"] == "session.error" and _error_of(event)[0] == "MessageAbortedError":
            self._forgets = True
        return (event,)

    def answer(self, request: Request, answer: Answer) -> Answer:
        asked = (request.method, request.path) == ("GET", "/permission")
        return json_answer([]) if asked and self._forgets else answer


def _forgets_aborted() -> Body:
    flaw = _ForgetsAborted()
    return {"event": flaw.event, "answer": flaw.answer}


# Answers


def _to(
    method: str, path: str, change: Callable[[Request, Answer, Any], Answer]
) -> Callable[[Request, Answer], Answer]:
    def changed(request: Request, answer: Answer) -> Answer:
        if answer.status == 401 or request.method != method or not re.fullmatch(path, request.path):
            return answer
        return change(request, answer, parse_json(answer.body))

    return changed


def _json_404(_request: Request, answer: Answer) -> Answer:
    html = ("content-type", "text/html") in answer.headers
    return json_answer({"message": "no such route"}, 404) if html else answer


def _status_for(status: int, other: int) -> Callable[[Request, Answer, Any], Answer]:
    return lambda _request, answer, body: json_answer(body, other) if answer.status == status else answer


def _without_route(_request: Request, _answer: Answer, body: Any) -> Answer:
    return json_answer({**body, "paths": {p: r for p, r in body["paths"].items() if not p.endswith("/abort")}})


def _without_slug(_request: Request, answer: Answer, body: Any) -> Answer:
    if answer.status != 200:
        return answer
    return json_answer({key: value for key, value in body.items() if key != "slug"})


def _ghost(request: Request, answer: Answer, _body: Any) -> Answer:
    known = not request.path.endswith(("/ses_x", "/nonsense"))
    return json_answer({"id": "ses_ghost"}) if answer.status == 404 and known else answer


def _no_parts_refused(request: Request, answer: Answer, _body: Any) -> Answer:
    sent = request.json()
    empty = isinstance(sent, dict) and sent.get("parts") == []
    return json_answer({"name": "BadRequest"}, 400) if empty else answer


def _vague(_request: Request, answer: Answer, body: Any) -> Answer:
    if answer.status != 400:
        return answer
    return json_answer({**body, "data": {**body["data"], "message": "Bad request"}}, 400)


def _broken_json_is_400(request: Request, answer: Answer, body: Any) -> Answer:
    return json_answer(body, 400) if request.body == b"{" else answer


def _other_finish(_request: Request, answer: Answer, body: Any) -> Answer:
    if answer.status != 200 or body["info"].get("finish") != "stop":
        return answer
    return json_answer({**body, "info": {**body["info"], "finish": "done"}})


def _error_as_500(name: str) -> Callable[[Request, Answer, Any], Answer]:
    def changed(_request: Request, answer: Answer, body: Any) -> Answer:
        failed = answer.status == 200 and body["info"].get("error", {}).get("name") == name
        return json_answer({"name": "UnknownError", "data": {}}, 500) if failed else answer

    return changed


def _without_abandoned(_request: Request, answer: Answer, body: Any) -> Answer:
    if answer.status != 200:
        return answer
    return json_answer([{**m, "parts": [p for p in m["parts"] if p.get("text") != ""]} for m in body])


def _without_summary(_request: Request, answer: Answer, body: Any) -> Answer:
    if answer.status != 200:
        return answer
    told = [{key: value for key, value in m["info"].items() if value is not True} for m in body]
    return json_answer([{**m, "info": info} for m, info in zip(body, told, strict=True)])


# Model calls


def _without_read(body: Body) -> Body:
    tools = [tool for tool in body.get("tools", []) if tool["function"]["name"] != "read"]
    return {**body, "tools": tools} if tools else body


def _history_reversed(body: Body) -> Body:
    system, *told = body["messages"]
    if len(told) < 3 or any(message["role"] == "tool" for message in told):
        return body
    return {**body, "messages": [system, told[1], told[0], *told[2:]]}


def _without_system_text(body: Body) -> Body:
    system, *told = body["messages"]
    return {**body, "messages": [{**system, "content": system["content"].partition("\n")[0]}, *told]}


def _is_turn(body: Body) -> bool:
    return bool(body["messages"][0]["content"].startswith(TURN))


def _tools_always(body: Body) -> Body:
    if "tools" in body or not _is_turn(body):
        return body
    function = {"name": "bash", "description": "", "parameters": {"type": "object", "properties": {}}}
    return {**body, "tools": [{"type": "function", "function": function}]}


def _title_with_tools(body: Body) -> Body:
    function = {"name": "bash", "description": "", "parameters": {"type": "object", "properties": {}}}
    of_title = body["messages"][0]["content"] == TITLE
    return {**body, "tools": [{"type": "function", "function": function}]} if of_title else body


def _empty_passed(body: Body) -> Body:
    alone = len(body["messages"]) == 1
    return {**body, "messages": [*body["messages"], {"role": "user", "content": ""}]} if alone else body


def _tools_told(change: Callable[[str], str]) -> Callable[[Body], Body]:
    def changed(body: Body) -> Body:
        told = [{**m, "content": change(m["content"])} if m["role"] == "tool" else m for m in body["messages"]]
        return {**body, "messages": told}

    return changed


def _vague_error(text: str) -> str:
    return "error" if "invalid" in text else text


def _without_feedback(text: str) -> str:
    return text.partition(" with the following feedback")[0]


def _ascii(event: Event) -> bytes:
    return b"data: " + json.dumps(event).encode() + b"\n\n"


def _same_wait(_attempt: int, headers: dict[str, str]) -> float:
    return retry_seconds(1, headers)


_MESSAGES = "/session/[^/]+/message"
_PROMPT = "/session/[^/]+/prompt_async"

FLAWS: tuple[Mutant[Behaviour], ...] = (
    changing("no_password", "lets everybody in", "OS-AUTH-1", wants_password=False),
    changing(
        "unhealthy",
        "says that it is not healthy",
        "OS-SURFACE-1",
        answer=_to("GET", "/global/health", lambda _r, _a, body: json_answer({**body, "healthy": False})),
    ),
    changing("abort_undocumented", "leaves abort out", "OS-SURFACE-2", answer=_to("GET", "/doc", _without_route)),
    changing("json_404", "answers 404 for unknown paths", "OS-SURFACE-3", answer=_json_404),
    changing("no_slug", "makes sessions without slug", "OS-SESSION-1", answer=_to("POST", "/session", _without_slug)),
    changing(
        "empty_list", "lists no session", "OS-SESSION-2", answer=_to("GET", "/session", lambda *_: json_answer([]))
    ),
    changing(
        "malformed_404",
        "answers 404 for an id that is none",
        "OS-SESSION-3",
        answer=_to("GET", "/session/nonsense.*", _status_for(500, 404)),
    ),
    changing("ghost", "still reads a deleted session", "OS-SESSION-4", answer=_to("GET", "/session/[^/]+", _ghost)),
    changing(
        "childless",
        "lists no children",
        "OS-SESSION-5",
        answer=_to("GET", "/session/ses_.{20,}/children", lambda *_: json_answer([])),
    ),
    changing(
        "session_422",
        "refuses sessions with 422",
        "OS-SESSION-6",
        answer=_to("POST", "/session", _status_for(400, 422)),
    ),
    changing("no_parts_400", "refuses no parts", "OS-PROMPT-1", answer=_to("POST", _PROMPT, _no_parts_refused)),
    changing(
        "prompt_to_nowhere",
        "takes prompts to no session",
        "OS-PROMPT-2",
        answer=_to("POST", "/session/ses_x/prompt_async", lambda *_: Answer(204)),
    ),
    changing(
        "broken_json_400",
        "answers 400 for broken JSON",
        "OS-PROMPT-3",
        answer=_to("POST", f"{_PROMPT}|{_MESSAGES}", _broken_json_is_400),
    ),
    changing("vague_refusal", "does not say what is wrong", "OS-PROMPT-4", answer=_to("POST", _PROMPT, _vague)),
    changing("always_replies", "replies unasked", "OS-PROMPT-5", obeys_no_reply=False),
    changing("busy_409", "refuses prompts while busy", "OS-PROMPT-6", queues=False),
    changing(
        "unknown_model_silent",
        "tells no unknown model",
        "OS-PROMPT-7",
        event=_errors_dropped("UnknownError", "Model not found"),
    ),
    changing(
        "unknown_agent_once",
        "tells an unknown agent once",
        "OS-PROMPT-8",
        event=_errors_dropped("UnknownError", "UnknownError"),
    ),
    changing("finish_done", "finishes with `done`", "OS-MESSAGE-1", answer=_to("POST", _MESSAGES, _other_finish)),
    changing(
        "failure_500",
        "answers 500 when the model fails",
        "OS-MESSAGE-2",
        answer=_to("POST", _MESSAGES, _error_as_500("APIError")),
    ),
    changing("leaving_aborts", "ends a turn whose client left", "OS-MESSAGE-3", leaving_aborts=True),
    changing("busy_untold", "does not tell that it is busy", "OS-TURN-1", event=_on("session.status", _without_busy)),
    changing("half_text", "tells half of the whole text", "OS-TURN-2", event=_on_parts("text", _half_text)),
    changing("wrong_total", "counts the output only", "OS-TURN-3", event=_on_parts("step-finish", _wrong_total)),
    changing("no_read_tool", "does not offer read", "OS-TURN-4", model_call=_without_read),
    changing("history_reversed", "swaps earlier messages", "OS-TURN-5", model_call=_history_reversed),
    remembering("foreign_deltas", "mixes up sessions", "OS-TURN-6", lambda: {"event": _DeltasOfAnother()}),
    changing("escaped_unicode", "escapes what is not ASCII", "OS-TURN-7", encode=_ascii),
    changing("system_dropped", "drops system text", "OS-TURN-8", model_call=_without_system_text),
    changing("tools_always", "offers tools that are off", "OS-TURN-9", model_call=_tools_always),
    changing("title_with_tools", "offers tools for titles", "OS-TURN-10", model_call=_title_with_tools),
    changing("username_ignored", "wants its usual user", "OS-AUTH-2", obeys_username=False),
    changing("deaf_to_sigterm", "goes on at SIGTERM", "OS-STOP-1", ends_at_sigterm=False),
    changing("tidy_restart", "finishes what a restart cut off", "OS-STOP-2", keeps=_finished),
    changing("event_without_id", "leaves event ids out", "OS-EVENT-1", event=_without_id),
    changing("no_heartbeat", "sends no heartbeat", "OS-EVENT-2", heartbeat=1e6),
    changing("one_directory", "tells everybody everything", "OS-EVENT-3", per_directory=False),
    changing("replays", "tells what was before", "OS-EVENT-4", replays=True),
    changing("no_envelope", "tells events of all bare", "OS-EVENT-5", envelope=lambda _directory, event: event),
    changing(
        "reasoning_as_text",
        "tells reasoning as text",
        "OS-REASON-1",
        event=_on_parts("reasoning", lambda part: {**part, "type": "text"}),
    ),
    changing("empty_passed", "passes empty text on", "OS-EMPTY-1", model_call=_empty_passed),
    changing("length_as_stop", "tells length as stop", "OS-EMPTY-2", event=_on_parts("step-finish", _length_as_stop)),
    changing("filter_untold", "tells no filter", "OS-EMPTY-3", event=_errors_dropped("ContentFilterError")),
    changing("pending_untold", "tells no pending call", "OS-TOOL-1", event=_on_parts("tool", _without_pending)),
    changing("vague_tool_error", "tells the model `error`", "OS-TOOL-2", model_call=_tools_told(_vague_error)),
    changing("refusal_retryable", "calls all retryable", "OS-FAIL-1", event=_on("session.error", _retryable)),
    changing("three_retries", "gives up after three", "OS-FAIL-2", max_retries=3),
    changing("same_waits", "always waits as long", "OS-FAIL-3", retry_after=_same_wait),
    changing("type_ignored", "looks at the status alone", "OS-FAIL-4", retried_types=frozenset()),
    changing("abandoned_dropped", "lists no empty text", "OS-FAIL-5", answer=_to("GET", _MESSAGES, _without_abandoned)),
    changing("mute_retry", "does not say what broke", "OS-FAIL-6", event=_on("session.status", _mute_retry)),
    changing(
        "bad_event_api_error",
        "tells a bad event as APIError",
        "OS-FAIL-7",
        event=_errors_renamed("UnknownError", "APIError", "JSON parsing failed"),
    ),
    changing("ends_unfinished", "ends without finish", "OS-FAIL-8", goes_on_after=frozenset({"tool-calls"})),
    changing(
        "overflow_api_error",
        "tells an overflow as APIError",
        "OS-COMPACT-1",
        event=_errors_renamed("ContextOverflowError", "APIError"),
    ),
    changing("summary_unmarked", "marks no summary", "OS-COMPACT-2", answer=_to("GET", _MESSAGES, _without_summary)),
    remembering("compacted_once", "tells one compaction", "OS-COMPACT-3", lambda: {"event": _CompactedOnce()}),
    changing(
        "abort_unknown_error",
        "tells an abort as UnknownError",
        "OS-ABORT-1",
        event=_errors_renamed("MessageAbortedError", "UnknownError"),
    ),
    changing(
        "abort_404",
        "refuses to abort nothing",
        "OS-ABORT-2",
        answer=_to("POST", "/session/ses_x/abort", lambda *_: json_answer({"name": "NotFoundError"}, 404)),
    ),
    remembering("wait_abort_error", "tells a wait's abort", "OS-ABORT-3", lambda: {"event": _AbortOfWaitIsError()}),
    changing("early_abort_lost", "loses an early abort", "OS-ABORT-4", aborts_early=False),
    changing(
        "aborted_500",
        "answers an aborted call with 500",
        "OS-ABORT-5",
        answer=_to("POST", _MESSAGES, _error_as_500("MessageAbortedError")),
    ),
    changing("deleted_idle", "tells the deleted idle", "OS-ABORT-6", event=_on("session.deleted", _deleted_and_idle)),
    changing("asks_for_read", "asks for another thing", "OS-ASK-1", event=_on("permission.asked", _other_permission)),
    changing("yes_untold", "does not tell a yes", "OS-ASK-2", event=_on("permission.replied", _unless_once)),
    changing(
        "no_is_error", "takes a no for an error", "OS-ASK-3", event=_on("message.part.updated", _refusal_is_error)
    ),
    changing("feedback_lost", "loses the reason of a no", "OS-ASK-4", model_call=_tools_told(_without_feedback)),
    remembering("question_forgotten", "forgets at abort", "OS-ASK-5", _forgets_aborted),
    changing(
        "any_reply",
        "takes any reply",
        "OS-ASK-6",
        answer=_to("POST", "/permission/[^/]+/reply", _status_for(400, 200)),
    ),
    changing("rejection_untold", "tells no rejection", "OS-ASK-7", event=_on("question.rejected", lambda _event: ())),
    changing("orphan", "does not name the parent", "OS-CHILD-1", event=_on("session.created", _orphan)),
)


def find(name: str) -> Mutant[Behaviour]:
    """The flaw of that name; raises UsageError."""
    return named(name, FLAWS)


if __name__ == "__main__":
    sys.exit(main(sys.argv[2:], find(sys.argv[1]).apply(Behaviour())))
