"""What the agent asks, and what comes of the answer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from harness.actors import JournalReader, Script
from harness.check import Inconclusive, expect
from harness.expectations import shown
from harness.fakes.model.script import Answer, ToolCall, messages_of
from harness.opencode_calls import (
    Ear,
    Event,
    Opencode,
    calls_with,
    has,
    idle,
    ids_in,
    kinds,
    named,
    of,
    parts,
)

MEND = "do as opencode does"
ASKING = [{"permission": "*", "pattern": "*", "action": "ask"}]
ECHO = ToolCall("bash", '{"command": "echo hi", "description": "says hi"}')
OUTSIDE = ToolCall("read", '{"filePath": "/etc/hostname"}')
NO_ID = 'Expected a string starting with "per", got "nonsense"\n  at ["requestID"]'
PATIENCE = 5.0
"""Seconds in which what follows from a reply has come."""

CHOICE = ToolCall(
    "question",
    '{"questions": [{"question": "Which?", "header": "Which", "options": [{"label": "A", "description": "a"}]}]}',
)


def asked(
    opencode: Opencode, script: Script, word: str, call: ToolCall, kind: str = "permission.asked", **session: Any
) -> tuple[str, Ear, dict[str, Any]]:
    """A session whose turn waits for an answer: its id, an ear on it, and what was asked."""
    script.answer("steps", Answer("", tool_calls=(call,), finish="tool_calls"), Answer("done"), nonce=word)
    ear = opencode.listen(target=f"/event{session.get('query', '')}")
    id_ = opencode.session(**session)
    opencode.prompt("ask", id_, word)
    questions = named(kind, of(id_, ear.until("asked", has(kind, id_))))
    if not questions or not isinstance(questions[0].get("id"), str):
        raise Inconclusive("nothing with an id was asked")
    return id_, ear, questions[0]


def tool_errors(events: list[Event]) -> list[str]:
    """The errors of tools, each once."""
    states = [part["state"] for part in parts(events) if part["type"] == "tool"]
    return [str(state["error"]) for state in states if state["status"] == "error"]


@pytest.mark.requirement("OS-ASK-1")
def test_a_read_outside_the_folder_is_asked_for(
    opencode: Opencode, script: Script, journal: JournalReader, nonce: Callable[[str], str]
) -> None:
    """Listed, and the turn waits."""
    script.answer("steps", Answer("", tool_calls=(OUTSIDE,), finish="tool_calls"), Answer("x"), nonce=nonce("asked"))
    ear = opencode.listen()
    session = opencode.session()
    reply = opencode.prompt("ask", session, nonce("asked"))
    events = of(session, ear.until("asked", lambda seen: has("permission.asked", session)(seen) or idle(session)(seen)))
    questions = named("permission.asked", events)
    names = [question.get("permission") for question in questions]
    expect(names == ["external_directory"], "permission external_directory", repr(names), MEND, reply)
    listed = opencode.call("list", "GET", "/permission")
    expect(questions[0].get("id") in ids_in(listed), "the question in the list", shown(listed), MEND, listed)
    calls = calls_with(journal, "calls", nonce("asked"))
    waiting = len(calls) == 1 and not idle(session)(ear.until("waiting", bool))
    expect(waiting, "a turn that waits", f"{len(calls)} model calls", MEND, reply)
    opencode.abort("abort", session)


@pytest.mark.requirement("OS-ASK-2")
@pytest.mark.parametrize("route", ["permission", "session"])
def test_a_permission_that_is_given_lets_the_tool_run(
    opencode: Opencode, script: Script, nonce: Callable[[str], str], route: str
) -> None:
    """Told, and taken from the list; by either route."""
    session, ear, question = asked(opencode, script, nonce("asked"), ECHO, permission=ASKING)
    if route == "permission":
        reply = opencode.call("reply", "POST", f"/permission/{question['id']}/reply", {"reply": "once"})
    else:
        path = f"/session/{session}/permissions/{question['id']}"
        reply = opencode.call("reply", "POST", path, {"response": "once"})
    expect(reply.status == 200 and reply.json() is True, "200 true", shown(reply), MEND, reply)
    events = of(session, ear.until("idle", idle(session)))
    told = named("permission.replied", events)
    right = [(one.get("requestID"), one.get("reply")) for one in told] == [(question["id"], "once")]
    expect(right, "permission.replied once", repr(told), MEND, reply)
    states = [part["state"]["status"] for part in parts(events) if part["type"] == "tool"]
    expect(states[-1:] == ["completed"], "a tool that ran", repr(states), MEND, reply)
    listed = opencode.call("list", "GET", "/permission")
    expect(question["id"] not in ids_in(listed), "the question not in the list", shown(listed), MEND, listed)


@pytest.mark.requirement("OS-ASK-3")
def test_a_permission_that_is_refused_ends_the_turn(
    opencode: Opencode, script: Script, journal: JournalReader, nonce: Callable[[str], str]
) -> None:
    """Without an error of the session."""
    session, ear, question = asked(opencode, script, nonce("asked"), ECHO, permission=ASKING)
    reply = opencode.call("reply", "POST", f"/permission/{question['id']}/reply", {"reply": "reject"})
    events = of(session, ear.until("idle", idle(session)))
    said = tool_errors(events)
    expect(len(said) == 1 and "rejected permission" in said[0], "a tool that failed", repr(said), MEND, reply)
    reasons = [part["reason"] for part in parts(events) if part["type"] == "step-finish"]
    expect(reasons == ["tool-calls"], "finish tool-calls, and no more", repr(reasons), MEND, reply)
    expect("session.error" not in kinds(events), "no error", repr(kinds(events)), MEND, reply)
    expect(len(calls_with(journal, "calls", nonce("asked"))) == 1, "one model call", "more", MEND, reply)


@pytest.mark.requirement("OS-ASK-4")
def test_a_refusal_with_a_message_lets_the_turn_go_on(
    opencode: Opencode, script: Script, journal: JournalReader, nonce: Callable[[str], str]
) -> None:
    """The model is told why."""
    session, ear, question = asked(opencode, script, nonce("asked"), ECHO, permission=ASKING)
    body = {"reply": "reject", "message": nonce("why")}
    reply = opencode.call("reply", "POST", f"/permission/{question['id']}/reply", body)
    ear.until("idle", idle(session))
    calls = calls_with(journal, "calls", nonce("asked"))
    told = messages_of(calls[-1].request.json())[-1]
    right = len(calls) == 2 and told[0] == "tool" and nonce("why") in told[1]
    expect(right, "a second call with the reason", repr(told), MEND, reply)


@pytest.mark.requirement("OS-ASK-5")
def test_a_question_outlives_its_turn(opencode: Opencode, script: Script, nonce: Callable[[str], str]) -> None:
    """Listed still after the abort, which ended the tool that asked."""
    session, ear, question = asked(opencode, script, nonce("asked"), ECHO, permission=ASKING)
    opencode.abort("abort", session)
    events = of(session, ear.until("idle", idle(session, 2)))
    said = tool_errors(events)
    expect(said == ["Tool execution aborted"], "a tool that was aborted", repr(said), MEND)
    listed = opencode.call("list", "GET", "/permission")
    expect(question["id"] in ids_in(listed), "the question in the list", shown(listed), MEND, listed)


@pytest.mark.requirement("OS-ASK-6")
def test_a_wrong_reply_is_refused(opencode: Opencode, script: Script, nonce: Callable[[str], str]) -> None:
    """400 for what is no reply, 404 for what is not open."""
    session, ear, question = asked(opencode, script, nonce("asked"), ECHO, permission=ASKING)
    wrong = opencode.call("wrong", "POST", f"/permission/{question['id']}/reply", {"reply": "perhaps"})
    named_ = isinstance(wrong.json(), dict) and wrong.json().get("name") == "BadRequest"
    expect(wrong.status == 400 and named_, "400 BadRequest", shown(wrong), MEND, wrong)
    for label, path, body, message, place in (
        ("none", f"/permission/{question['id']}/reply", {}, 'Missing key\n  at ["reply"]', "Payload"),
        ("no id", "/permission/nonsense/reply", {"reply": "once"}, NO_ID, "Params"),
        ("no answers", "/question/que_x/reply", {}, 'Missing key\n  at ["answers"]', "Payload"),
    ):
        refused = opencode.call(label, "POST", path, body)
        told = {"name": "BadRequest", "data": {"message": message, "kind": place}}
        expect(refused.status == 400 and refused.json() == told, f"400 {told}", shown(refused), MEND, refused)
    unknown = opencode.call("unknown", "POST", "/permission/per_x/reply", {"reply": "once"})
    expect(unknown.status == 404, "404", shown(unknown), MEND, unknown)
    opencode.abort("abort", session)
    ear.until("idle", idle(session))


@pytest.mark.requirement("OS-ASK-7")
@pytest.mark.parametrize("answered", [True, False], ids=["answered", "rejected"])
def test_a_question_to_the_user_waits(
    opencode: Opencode, script: Script, journal: JournalReader, nonce: Callable[[str], str], answered: bool
) -> None:
    """Answering lets the turn go on, rejecting ends it."""
    session, ear, question = asked(opencode, script, nonce("asked"), CHOICE, "question.asked")
    listed = opencode.call("list", "GET", "/question")
    expect(question["id"] in ids_in(listed), "the question in the list", shown(listed), MEND, listed)
    path = f"/question/{question['id']}"
    if answered:
        reply = opencode.call("reply", "POST", f"{path}/reply", {"answers": [["A"]]})
    else:
        reply = opencode.call("reply", "POST", f"{path}/reject")
    expect(reply.status == 200 and reply.json() is True, "200 true", shown(reply), MEND, reply)
    events = of(session, ear.until("idle", idle(session)))
    told = kinds(events)
    kind = "question.replied" if answered else "question.rejected"
    expect(kind in told, kind, repr(told), MEND, reply)
    calls = calls_with(journal, "calls", nonce("asked"))
    expect(len(calls) == (2 if answered else 1), "a second call only when answered", str(len(calls)), MEND, reply)
    if answered:
        role, text = messages_of(calls[-1].request.json())[-1]
        expect(role == "tool" and '"Which?"="A"' in text, "the answer at the model", repr(text), MEND, calls[-1])


@pytest.mark.requirement("OS-ASK-8")
@pytest.mark.parametrize("kind", ["permission", "question"])
def test_what_is_asked_is_asked_in_its_folder(
    opencode: Opencode, script: Script, nonce: Callable[[str], str], kind: str
) -> None:
    """Neither listed nor answered elsewhere."""
    elsewhere = opencode.elsewhere()
    where, call = f"?directory={elsewhere}", ECHO if kind == "permission" else CHOICE
    permission = ASKING if kind == "permission" else []
    session, ear, question = asked(
        opencode, script, nonce("asked"), call, f"{kind}.asked", query=where, permission=permission
    )
    lists = {at: opencode.call(f"list {at}", "GET", f"/{kind}{at}") for at in ("", where)}
    listed = [question["id"] in ids_in(found) for found in lists.values()]
    expect(listed == [False, True], "listed there alone", repr(listed), MEND, lists[""])
    body = {"reply": "once"} if kind == "permission" else {"answers": [["A"]]}
    stray = opencode.call("reply here", "POST", f"/{kind}/{question['id']}/reply", body)
    expect(stray.status == 404, "404 for a reply from here", shown(stray), MEND, stray)
    reply = opencode.call("reply there", "POST", f"/{kind}/{question['id']}/reply{where}", body)
    expect(reply.status == 200 and reply.json() is True, "200 true for one from there", shown(reply), MEND, reply)
    events = of(session, ear.until("idle", idle(session)))
    states = [part["state"]["status"] for part in parts(events) if part["type"] == "tool"]
    expect(states[-1:] == ["completed"], "a tool that ran", repr(states), MEND, reply)


@pytest.mark.requirement("OS-REPLY-1")
def test_refusing_one_permission_refuses_those_beside_it(
    opencode: Opencode, script: Script, journal: JournalReader, nonce: Callable[[str], str]
) -> None:
    """All that the session waits for is told to be refused, nothing stays listed, and the turn ends."""
    script.answer("steps", Answer("", tool_calls=(ECHO, ECHO), finish="tool_calls"), Answer("x"), nonce=nonce("asked"))
    ear = opencode.listen()
    session = opencode.session(permission=ASKING)
    opencode.prompt("ask", session, nonce("asked"))
    both = named("permission.asked", of(session, ear.until("asked", has("permission.asked", session, 2))))
    if len(both) < 2:
        raise Inconclusive("not both calls were asked for")
    reply = opencode.call("reply", "POST", f"/permission/{both[0]['id']}/reply", {"reply": "reject"})
    events = of(session, ear.until("idle", idle(session), PATIENCE))
    told = {one.get("requestID"): one.get("reply") for one in named("permission.replied", events)}
    expect(told == {one["id"]: "reject" for one in both}, "both refused", repr(told), MEND, reply)
    expect(len(tool_errors(events)) == 2 and idle(session)(events), "two tools that failed", "other", MEND, reply)
    listed = opencode.call("list", "GET", "/permission")
    expect(both[1]["id"] not in ids_in(listed), "nothing that is still asked", shown(listed), MEND, listed)
    expect(len(calls_with(journal, "calls", nonce("asked"))) == 1, "one model call", "more", MEND, reply)


@pytest.mark.requirement("OS-REPLY-2")
def test_a_permission_that_is_given_for_always_is_not_asked_for_again(
    opencode: Opencode, script: Script, nonce: Callable[[str], str]
) -> None:
    """The tool runs, and so does a later one of another session; one that was waiting goes on waiting."""
    call = ToolCall("bash", '{"command": "printf hi", "description": "says hi"}')  # of a kind that no other check calls
    first, ear, question = asked(opencode, script, nonce("first"), call, permission=ASKING)
    script.answer("waiting", Answer("", tool_calls=(call,), finish="tool_calls"), Answer("x"), nonce=nonce("waiting"))
    waiting = opencode.session("waiting", permission=ASKING)
    opencode.prompt("ask before", waiting, nonce("waiting"))
    before = named("permission.asked", of(waiting, ear.until("asked before", has("permission.asked", waiting))))
    reply = opencode.call("reply", "POST", f"/permission/{question['id']}/reply", {"reply": "always"})
    events = of(first, ear.until("idle", idle(first)))
    states = [part["state"]["status"] for part in parts(events) if part["type"] == "tool"]
    replies = [told.get("reply") for told in named("permission.replied", events)]
    right = (states[-1:], replies) == (["completed"], ["always"])
    expect(right, "permission.replied always, and a tool that ran", f"{replies} and {states}", MEND, reply)
    listed = opencode.call("list", "GET", "/permission")
    kept = [question["id"] for question in before if question["id"] in ids_in(listed)]
    expect(len(kept) == 1, "what was asked for before, still listed", shown(listed), MEND, listed)
    script.answer("later", Answer("", tool_calls=(call,), finish="tool_calls"), Answer("x"), nonce=nonce("later"))
    later = opencode.session("later", permission=ASKING)
    opencode.prompt("ask later", later, nonce("later"))
    events = of(later, ear.until("idle later", idle(later), PATIENCE))
    states = [part["state"]["status"] for part in parts(events) if part["type"] == "tool"]
    right = "permission.asked" not in kinds(events) and states[-1:] == ["completed"]
    expect(right, "a tool that ran unasked", repr(kinds(events)[-3:]), MEND, reply)
    opencode.abort("abort", waiting)


@pytest.mark.requirement("OS-CHILD-1")
def test_the_task_tool_runs_a_child_session(opencode: Opencode, script: Script, nonce: Callable[[str], str]) -> None:
    """Heard on the same stream; its text is the tool's output."""
    arguments = f'{{"description": "look", "prompt": "{nonce("child")}", "subagent_type": "general"}}'
    task = ToolCall("task", arguments)
    script.answer("steps", Answer("", tool_calls=(task,), finish="tool_calls"), Answer("done"), nonce=nonce("parent"))
    script.answer("child", Answer(nonce("said")), nonce=nonce("child"))
    ear = opencode.listen()
    session = opencode.session()
    reply = opencode.prompt("ask", session, nonce("parent"))
    events = ear.until("idle", idle(session))
    created = named("session.created", events)
    children = [one["info"]["id"] for one in created if one["info"].get("parentID") == session]
    expect(len(children) == 1, "a child of the session", repr(children), MEND, reply)
    heard = kinds(of(children[0], events))
    expect("session.idle" in heard, "the child's idle on the stream", repr(heard), MEND, reply)
    outputs = [part["state"].get("output", "") for part in parts(of(session, events)) if part["type"] == "tool"]
    expect(nonce("said") in outputs[-1], "the child's text as the tool's output", repr(outputs[-1]), MEND, reply)
