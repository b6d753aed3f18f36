"""Turns that ask somebody."""

from __future__ import annotations

from harness.fakes.model.script import Answer, ToolCall
from harness.record.scenario import ASKING, is_event, scenario
from harness.record.stage import Stage


def _asked(stage: Stage, heard_kind: str = "permission.asked") -> tuple[str, str]:
    heard = stage.listen()
    session = stage.session(permission=ASKING)
    call = ToolCall("bash", '{"command": "echo hi", "description": "says hi"}')
    stage.model_says(Answer("", tool_calls=(call,), finish="tool_calls"), Answer("done"))
    stage.prompt(session, "hello")
    stage.wait(heard, is_event(heard_kind))
    stage.call("GET", "/permission")
    asked = next(e for e in stage.events(heard) if e["type"] == heard_kind)
    return session, str(asked["properties"]["id"])


@scenario
def permission_once(stage: Stage) -> None:
    """A permission question that is answered with yes."""
    session, asked = _asked(stage)
    stage.call("POST", f"/permission/{asked}/reply", {"reply": "once"})
    stage.idle(stage.heard[0], session)
    stage.call("GET", "/permission")


@scenario
def permission_rejected(stage: Stage) -> None:
    """A permission question that is answered with no."""
    session, asked = _asked(stage)
    stage.call("POST", f"/permission/{asked}/reply", {"reply": "reject"})
    stage.idle(stage.heard[0], session)
    stage.call("GET", "/permission")


@scenario
def permission_rejected_with_message(stage: Stage) -> None:
    """A permission question that is answered with no, and why."""
    session, asked = _asked(stage)
    stage.call("POST", f"/permission/{asked}/reply", {"reply": "reject", "message": "nobody is here"})
    stage.idle(stage.heard[0], session)
    stage.call("GET", "/permission")


@scenario
def permission_aborted(stage: Stage) -> None:
    """A permission question that stays open while the turn is aborted; wrong answers to it."""
    session, asked = _asked(stage)
    stage.call("POST", "/permission/per_x/reply", {"reply": "once"})
    stage.call("POST", f"/permission/{asked}/reply", {"reply": "perhaps"})
    stage.call("POST", f"/session/{session}/abort")
    stage.idle(stage.heard[0], session)
    stage.call("GET", "/permission")


@scenario
def permission_outside(stage: Stage) -> None:
    """The default configuration asks before a read outside the folder."""
    heard = stage.listen()
    session = stage.session()
    call = ToolCall("read", '{"filePath": "/etc/hostname"}')
    stage.model_says(Answer("", tool_calls=(call,), finish="tool_calls"), Answer("done"))
    stage.prompt(session, "hello")
    stage.wait(heard, is_event("permission.asked"))
    asked = next(e for e in stage.events(heard) if e["type"] == "permission.asked")
    stage.call("POST", f"/session/{session}/permissions/{asked['properties']['id']}", {"response": "reject"})
    stage.idle(heard, session)


_QUESTION = ToolCall(
    "question",
    '{"questions": [{"question": "Which?", "header": "Which", "options": [{"label": "A", "description": "a"}]}]}',
)


@scenario
def question_rejected(stage: Stage) -> None:
    """A question of the agent that is rejected."""
    heard = stage.listen()
    session = stage.session()
    stage.model_says(Answer("", tool_calls=(_QUESTION,), finish="tool_calls"), Answer("done"))
    stage.prompt(session, "hello")
    stage.quiet(heard, 2.5)
    stage.call("GET", "/question")
    asked = [e for e in stage.events(heard) if e["type"] == "question.asked"]
    stage.call("POST", "/question/que_x/reject")
    if asked:
        stage.call("POST", f"/question/{asked[0]['properties']['id']}/reject")
    stage.idle(heard, session)
    stage.call("GET", "/question")


@scenario
def question_answered(stage: Stage) -> None:
    """A question of the agent that is answered."""
    heard = stage.listen()
    session = stage.session()
    stage.model_says(Answer("", tool_calls=(_QUESTION,), finish="tool_calls"), Answer("done"))
    stage.prompt(session, "hello")
    stage.quiet(heard, 2.5)
    asked = [e for e in stage.events(heard) if e["type"] == "question.asked"]
    if asked:
        stage.call("POST", f"/question/{asked[0]['properties']['id']}/reply", {"answers": [["A"]]})
    stage.idle(heard, session)
