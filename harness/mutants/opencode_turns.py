"""Opencode servers that are broken in how they take a prompt, drive a turn or tell its answer."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from harness.exchange import Request
from harness.fakes.opencode.answers import Answer, json_answer
from harness.fakes.opencode.behaviour import Behaviour, Event
from harness.fakes.opencode.prompts import TITLE, TURN
from harness.mutants.mutant import Mutant, changing, remembering
from harness.mutants.opencode_changes import (
    MESSAGES,
    Body,
    Told,
    error_as_500,
    error_of,
    on,
    on_parts,
    prompts,
    status_for,
    to,
    tools_told,
    with_properties,
)

_PROMPT = "/session/[^/]+/prompt_async"


def _errors_dropped(name: str, beginning: str = "") -> Callable[[Event], Told]:
    def drop(event: Event) -> Told:
        found, message = error_of(event)
        return () if found == name and message.startswith(beginning) else (event,)

    return on("session.error", drop)


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
            return (with_properties(event, sessionID=others[0]),)
        return (event,)


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


def _vague_error(text: str) -> str:
    return "error" if "invalid" in text else text


def _ascii(event: Event) -> bytes:
    return b"data: " + json.dumps(event).encode() + b"\n\n"


def _unknown_model_400(request: Request, answer: Answer, body: Any) -> Answer:
    sent = request.json()
    unknown = isinstance(sent, dict) and "model" in sent and answer.status == 500
    return json_answer(body, 400) if unknown else answer


def _plan_ignored(sent: Body) -> Body:
    return {key: value for key, value in sent.items() if (key, value) != ("agent", "plan")}


def _without_limit(request: Request) -> Request:
    return replace(request, target=request.target.partition("?limit=")[0])


def _late(request: Request) -> float:
    return 1.5 if request.path.endswith("/prompt_async") else 0.0


class _FirstAnswerAgain:
    """Answers a synchronous call with the first answer of its session."""

    def __init__(self) -> None:
        self._first: dict[str, Answer] = {}

    def __call__(self, request: Request, answer: Answer, _body: Any) -> Answer:
        return self._first.setdefault(request.path, answer) if answer.status == 200 else answer


class _DeadAfterError:
    """Wants no reply to a prompt once its session had an error."""

    def __init__(self) -> None:
        self._dead: set[str] = set()

    def event(self, event: Event) -> Told:
        if event["type"] == "session.error":
            self._dead.add(event["properties"]["sessionID"])
        return (event,)

    def takes(self, request: Request) -> Request:
        dead = any(f"/session/{session}/" in request.path for session in self._dead)
        return prompts(lambda sent: {**sent, "noReply": True})(request) if dead else request


def _dead_after_error() -> Body:
    flaw = _DeadAfterError()
    return {"event": flaw.event, "takes": flaw.takes}


def _results_reversed(body: Body) -> Body:
    results = [m for m in body["messages"] if m["role"] == "tool"]
    told = [results.pop() if m["role"] == "tool" else m for m in body["messages"]]
    return {**body, "messages": told}


def _invalid_completed(part: Body) -> Body:
    wrong = "invalid arguments" in str(part["state"].get("error", ""))
    return {**part, "state": {**part["state"], "status": "completed"}} if wrong else part


def _spaces_dropped(body: Body) -> Body:
    told = [
        m for m in body["messages"] if m["role"] != "user" or not isinstance(m["content"], str) or m["content"].strip()
    ]
    return {**body, "messages": told}


TURNS: tuple[Mutant[Behaviour], ...] = (
    changing("no_parts_400", "refuses no parts", "OS-PROMPT-1", answer=to("POST", _PROMPT, _no_parts_refused)),
    changing(
        "prompt_to_nowhere",
        "takes prompts to no session",
        "OS-PROMPT-2",
        answer=to("POST", "/session/ses_x/prompt_async", lambda *_: Answer(204)),
    ),
    changing(
        "broken_json_400",
        "answers 400 for broken JSON",
        "OS-PROMPT-3",
        answer=to("POST", f"{_PROMPT}|{MESSAGES}", _broken_json_is_400),
    ),
    changing("vague_refusal", "does not say what is wrong", "OS-PROMPT-4", answer=to("POST", _PROMPT, _vague)),
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
    changing(
        "prompt_200",
        "answers a prompt with 200",
        "OS-PROMPT-1",
        "OS-PROMPT-6",
        answer=to("POST", "/session/[^/]+/prompt_async", status_for(204, 200)),
    ),
    changing("prompt_late", "takes a prompt late", "OS-PROMPT-1", "OS-PROMPT-6", late=_late),
    changing("agent_ignored", "ignores the agent", "OS-PROMPT-9", takes=prompts(_plan_ignored)),
    remembering(
        "first_answer_again",
        "answers each call with the first answer",
        "OS-MESSAGE-1",
        lambda: {"answer": to("POST", MESSAGES, _FirstAnswerAgain())},
    ),
    changing("limit_ignored", "lists all messages", "OS-MESSAGE-4", takes=_without_limit),
    remembering("dead_after_error", "answers no more after an error", "OS-TURN-11", _dead_after_error),
    changing("results_reversed", "swaps the results of tools", "OS-TOOL-3", model_call=_results_reversed),
    changing("invalid_completed", "completes wrong calls", "OS-TOOL-2", event=on_parts("tool", _invalid_completed)),
    changing("finish_done", "finishes with `done`", "OS-MESSAGE-1", answer=to("POST", MESSAGES, _other_finish)),
    changing(
        "failure_500",
        "answers 500 when the model fails",
        "OS-MESSAGE-2",
        answer=to("POST", MESSAGES, error_as_500("APIError")),
    ),
    changing(
        "unknown_model_400",
        "answers 400 for an unknown model",
        "OS-MESSAGE-2",
        answer=to("POST", MESSAGES, _unknown_model_400),
    ),
    changing("leaving_aborts", "ends a turn whose client left", "OS-MESSAGE-3", leaving_aborts=True),
    changing(
        "busy_untold",
        "does not tell that it is busy",
        "OS-TURN-1",
        "OS-FAIL-2",
        event=on("session.status", _without_busy),
    ),
    changing("half_text", "tells half of the whole text", "OS-TURN-2", event=on_parts("text", _half_text)),
    changing("wrong_total", "counts the output only", "OS-TURN-3", event=on_parts("step-finish", _wrong_total)),
    changing("no_read_tool", "does not offer read", "OS-TURN-4", model_call=_without_read),
    changing("history_reversed", "swaps earlier messages", "OS-TURN-5", "OS-TURN-11", model_call=_history_reversed),
    remembering("foreign_deltas", "mixes up sessions", "OS-TURN-6", lambda: {"event": _DeltasOfAnother()}),
    changing("escaped_unicode", "escapes what is not ASCII", "OS-TURN-7", encode=_ascii),
    changing("system_dropped", "drops system text", "OS-TURN-8", model_call=_without_system_text),
    changing("tools_always", "offers tools that are off", "OS-TURN-9", model_call=_tools_always),
    changing("title_with_tools", "offers tools for titles", "OS-TURN-10", model_call=_title_with_tools),
    changing(
        "reasoning_as_text",
        "tells reasoning as text",
        "OS-REASON-1",
        event=on_parts("reasoning", lambda part: {**part, "type": "text"}),
    ),
    changing("spaces_dropped", "drops white space", "OS-EMPTY-1", model_call=_spaces_dropped),
    changing("empty_passed", "passes empty text on", "OS-EMPTY-1", model_call=_empty_passed),
    changing(
        "length_as_stop",
        "tells length as stop",
        "OS-EMPTY-2",
        "OS-TOOL-4",
        event=on_parts("step-finish", _length_as_stop),
    ),
    changing("filter_untold", "tells no filter", "OS-EMPTY-3", event=_errors_dropped("ContentFilterError")),
    changing("pending_untold", "tells no pending call", "OS-TOOL-1", event=on_parts("tool", _without_pending)),
    changing("tools_by_reason", "goes on for the reason alone", "OS-TOOL-4", goes_on_after_tools=False),
    changing("vague_tool_error", "tells the model `error`", "OS-TOOL-2", model_call=tools_told(_vague_error)),
)
