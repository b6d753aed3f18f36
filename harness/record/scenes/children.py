"""Turns whose task tool has begun a child, which fails or is aborted."""

from __future__ import annotations

from harness.fakes.model.script import Answer, ToolCall
from harness.record.scenario import HANG, OUTSIDE, is_event, is_status, scenario
from harness.record.stage import Stage

_ASKS = Answer("", tool_calls=(OUTSIDE,), finish="tool_calls")
_DONE = Answer("done")
_BOOM = Answer(status=500, message="boom", headers=(("retry-after", "20"),))
_MEANWHILE = 4.0
"""Quiet moments in which a server has given up the tools of a child that was aborted."""


def _begun(stage: Stage, *said: Answer, then: Answer = _DONE) -> str:
    """A session whose task tool begins a child, to which the model says `said`; what follows the task is `then`."""
    number = len(stage.calls)
    arguments = f'{{"description": "look", "prompt": "~child {number}~", "subagent_type": "general"}}'
    task = Answer("", tool_calls=(ToolCall("task", arguments),), finish="tool_calls")
    stage.model_says(*said, to=f"~child {number}~")
    stage.model_says(task, then, to=f"~parent {number}~")
    session = stage.session()
    stage.prompt(session, f"~parent {number}~")
    return session


def _newest_child(stage: Stage) -> str:
    created = (event["properties"]["info"] for event in stage.events(stage.heard[0]) if is_created(event))
    return [str(info["id"]) for info in created if "parentID" in info][-1]


is_created = is_event("session.created")


@scenario
def child_failed(stage: Stage) -> None:
    """A child whose model refuses, and one whose question is rejected."""
    heard = stage.listen()
    session = _begun(stage, Answer(status=400, message="no"))
    stage.idle(heard, session)
    session = _begun(stage, _ASKS)
    stage.wait(heard, is_event("permission.asked"))
    asked = next(e["properties"]["id"] for e in stage.events(heard) if e["type"] == "permission.asked")
    stage.quiet(heard)
    stage.call("POST", f"/permission/{asked}/reply", {"reply": "reject"})
    stage.idle(heard, session)


@scenario
def child_aborted(stage: Stage) -> None:
    """Abort of a child whose model is silent, of one that waits to try again, and of one that asks."""
    heard = stage.listen()
    for said, waits in ((HANG, None), (_BOOM, is_status("retry")), (_ASKS, is_event("permission.asked"))):
        session = _begun(stage, said)
        if waits is None:
            stage.await_model_calls(2)
        else:
            stage.wait(heard, waits)
        stage.quiet(heard)
        stage.call("POST", f"/session/{_newest_child(stage)}/abort")
        stage.idle(heard, session)
        stage.quiet(heard, _MEANWHILE)


@scenario
def child_deleted(stage: Stage) -> None:
    """A child that is deleted while its model is silent."""
    heard = stage.listen()
    session = _begun(stage, HANG)
    stage.await_model_calls(2)
    stage.quiet(heard)
    stage.call("DELETE", f"/session/{_newest_child(stage)}")
    stage.idle(heard, session)


@scenario
def abort_with_child(stage: Stage) -> None:
    """Abort of a parent whose child's model is silent, and of one whose child waits to try again."""
    heard = stage.listen()
    for said in (HANG, _BOOM):
        session = _begun(stage, said)
        if said is HANG:
            stage.await_model_calls(2)
        else:
            stage.wait(heard, is_status("retry"))
        stage.quiet(heard)
        stage.call("POST", f"/session/{session}/abort")
        stage.idle(heard, session)
        stage.quiet(heard, _MEANWHILE)


@scenario
def abort_with_asking_child(stage: Stage) -> None:
    """Abort of a parent whose child waits for permission: the model is called once more, and answers, or is silent."""
    heard = stage.listen()
    for count, then in enumerate((_DONE, HANG), 1):
        session = _begun(stage, _ASKS, then=then)
        stage.wait(heard, is_event("permission.asked"), count)
        stage.quiet(heard)
        stage.call("POST", f"/session/{session}/abort")
        stage.idle(heard, session)
        stage.quiet(heard, _MEANWHILE)
        stage.call("GET", f"/session/{session}/message")
