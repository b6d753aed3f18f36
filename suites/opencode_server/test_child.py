"""A child session that does not come to its end, and what its parent makes of it."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from harness.actors import JournalReader, Script
from harness.check import Inconclusive, expect
from harness.exchange import Exchange
from harness.fakes.model.script import Answer, ToolCall, messages_of
from harness.opencode_calls import (
    Ear,
    Event,
    Opencode,
    await_calls,
    calls_with,
    errors,
    has,
    idle,
    kinds,
    of,
    parts,
)

MEND = "do as opencode does"
ABORTED = "MessageAbortedError"
CANCELLED = "Task cancelled"
OUTSIDE = ToolCall("read", '{"filePath": "/etc/hostname"}')
HANG = Answer(fault="hang")
REFUSED = Answer(status=400, message="no such luck")
ASKS = Answer("", tool_calls=(OUTSIDE,), finish="tool_calls")
FAILED = {"1.18.14": ("completed", 'state="completed"'), "1.18.25": ("error", "Subagent failed")}
"""The state of a task whose child has failed, and what the model is told of it."""


def begin_child(
    opencode: Opencode, script: Script, nonce: Callable[[str], str], said: Answer, then: Answer
) -> tuple[str, Ear]:
    """A session whose task tool begins a child, to which the model says `said`; what follows the task is `then`."""
    arguments = f'{{"description": "look", "prompt": "{nonce("child")}", "subagent_type": "general"}}'
    task = Answer("", tool_calls=(ToolCall("task", arguments),), finish="tool_calls")
    script.answer("child", said, nonce=nonce("child"))
    script.answer("steps", task, then, nonce=nonce("parent"))
    ear = opencode.listen()
    session = opencode.session()
    opencode.prompt("ask", session, nonce("parent"))
    return session, ear


def child_of(session: str, ear: Ear) -> str:
    """The id of the child that the session's task tells; raises Inconclusive when it tells none."""

    def told(events: list[Event]) -> list[str]:
        states = [part["state"] for part in parts(of(session, events)) if part["type"] == "tool"]
        return [str(state["metadata"]["sessionId"]) for state in states if "sessionId" in state.get("metadata", {})]

    children = told(ear.until("child", told))
    if not children:
        raise Inconclusive("the task tells of no child")
    return children[0]


def expect_task(events: list[Event], calls: list[Exchange], state: str, told: str) -> None:
    """The task's last state, what the model's second call tells of it, and no error of the parent in its events."""
    states = [part["state"]["status"] for part in parts(events) if part["type"] == "tool"]
    expect(states[-1:] == [state], f"a task that is {state}", repr(states), MEND)
    results = [text for role, text in messages_of(calls[-1].request.json()) if role == "tool"]
    right = len(calls) == 2 and len(results) == 1 and told in results[0]
    expect(right, f"a second call that tells {told!r}", f"{len(calls)}: {results}", MEND, calls[-1])
    expect("session.error" not in kinds(events), "no error of the parent", repr(kinds(events)), MEND)


@pytest.mark.requirement("OS-CHILD-2")
def test_a_child_that_fails_is_told_to_the_model(
    opencode: Opencode, script: Script, journal: JournalReader, nonce: Callable[[str], str]
) -> None:
    """With its error, and the turn goes on."""
    session, ear = begin_child(opencode, script, nonce, REFUSED, Answer("done"))
    child = child_of(session, ear)
    events = ear.until("idle", idle(session))
    names = [error.get("name") for error in errors(child, events)]
    expect(names == ["APIError"], "an APIError of the child", repr(names), MEND)
    state, told = opencode.held_to("a failed child", FAILED)
    expect_task(of(session, events), calls_with(journal, "calls", nonce("parent")), state, told)


@pytest.mark.requirement("OS-CHILD-3")
def test_a_child_that_is_aborted_is_told_to_the_model(
    opencode: Opencode, script: Script, journal: JournalReader, nonce: Callable[[str], str]
) -> None:
    """As cancelled, and the turn goes on."""
    session, ear = begin_child(opencode, script, nonce, HANG, Answer("done"))
    await_calls(journal, "child asked", nonce("child"))
    child = child_of(session, ear)
    reply = opencode.abort("abort", child)
    events = ear.until("idle", idle(session))
    names = [error.get("name") for error in errors(child, events)]
    expect(names == [ABORTED], f"{ABORTED} of the child", repr(names), MEND, reply)
    expect_task(of(session, events), calls_with(journal, "calls", nonce("parent")), "error", CANCELLED)


@pytest.mark.requirement("OS-ABORT-7")
def test_aborting_over_a_silent_child_ends_both(
    opencode: Opencode, script: Script, journal: JournalReader, nonce: Callable[[str], str]
) -> None:
    """With an error each, and no further model call."""
    session, ear = begin_child(opencode, script, nonce, HANG, Answer("done"))
    await_calls(journal, "child asked", nonce("child"))
    child = child_of(session, ear)
    reply = opencode.abort("abort", session)
    events = ear.until("idle twice", idle(session, 2))
    names = [[error.get("name") for error in errors(one, events)] for one in (child, session)]
    expect(names == [[ABORTED]] * 2, f"{ABORTED} of each", repr(names), MEND, reply)
    calls = calls_with(journal, "calls", nonce("parent"))
    expect(len(calls) == 1, "no further model call of the parent", str(len(calls)), MEND, reply)


@pytest.mark.requirement("OS-ABORT-8")
def test_aborting_over_a_child_that_asks_lets_the_parent_go_on(
    opencode: Opencode, script: Script, journal: JournalReader, nonce: Callable[[str], str]
) -> None:
    """Until the child is given up. A model call that goes out meanwhile tells that the task was cancelled."""
    session, ear = begin_child(opencode, script, nonce, ASKS, HANG)
    child = child_of(session, ear)
    if not has("permission.asked", child)(ear.until("asked", has("permission.asked", child))):
        raise Inconclusive("the child asked for nothing")
    reply = opencode.abort("abort", session)
    events = ear.until("idle", idle(session))
    names = [error.get("name") for error in errors(child, events)]
    expect(names == [ABORTED], f"{ABORTED} of the child", repr(names), MEND, reply)
    own = parts(of(session, events))
    made = [part["state"].get("error") if part["type"] == "tool" else part.get("reason") for part in own]
    wanted = [CANCELLED, "tool-calls"]
    expect(made[-2:] == wanted, f"a step that ends with {wanted}", repr(made), MEND, reply)
    calls = calls_with(journal, "calls", nonce("parent"))
    told = [messages_of(call.request.json())[-1] for call in calls[1:]]
    right = told in ([], [("tool", CANCELLED)])
    expect(right, f"one more call at most, which tells {CANCELLED!r}", repr(told), MEND, reply)
    expect(all(call.end == "gone" for call in calls[1:]), "a model call that was left", "another", MEND, calls[-1])
