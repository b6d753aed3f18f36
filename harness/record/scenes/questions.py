"""Turns that ask somebody."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from harness.fakes.model.script import Answer, ToolCall
from harness.record.scenario import ASKING, ECHO, OUTSIDE, is_event, scenario
from harness.record.stage import Heard, Stage


def _asked(stage: Stage, heard_kind: str = "permission.asked") -> tuple[str, str]:
    heard = stage.listen()
    session = stage.session(permission=ASKING)
    stage.model_says(Answer("", tool_calls=(ECHO,), finish="tool_calls"), Answer("done"))
    stage.prompt(session, "hello")
    stage.wait(heard, is_event(heard_kind))
    stage.call("GET", "/permission")
    asked = next(e for e in stage.events(heard) if e["type"] == heard_kind)
    return session, str(asked["properties"]["id"])


def _echo(word: str) -> ToolCall:
    return ToolCall("bash", f'{{"command": "echo {word}", "description": "says {word}"}}')


def _read(file: Path) -> ToolCall:
    file.write_text(f"{file.stem}\n", encoding="utf-8")
    return ToolCall("read", json.dumps({"filePath": str(file)}))


def _ids_asked(stage: Stage, heard: Heard, count: int) -> list[str]:
    """The ids of the permissions that were asked for, once there are so many."""
    stage.wait(heard, is_event("permission.asked"), count)
    return [str(e["properties"]["id"]) for e in stage.events(heard) if e["type"] == "permission.asked"]


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
def permission_two_rejected(stage: Stage) -> None:
    """One of two open permission questions is answered with no, and why: the other one is answered with it."""
    heard = stage.listen()
    session = stage.session(permission=ASKING)
    stage.model_says(Answer("", tool_calls=(_echo("one"), _echo("two")), finish="tool_calls"), Answer("done"))
    stage.prompt(session, "hello")
    asked = _ids_asked(stage, heard, 2)
    stage.call("POST", f"/permission/{asked[0]}/reply", {"reply": "reject", "message": "nobody is here"})
    stage.idle(heard, session)
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
def permission_always(stage: Stage) -> None:
    """A permission that is given for always: nothing of the kind is asked for in the directory any more."""
    folder = stage.project_folder.parent / "trusting"
    folder.mkdir(exist_ok=True)
    where = f"?directory={folder}"
    heard = stage.listen(f"/event{where}")
    outside = stage.project_folder.parent / "outside"
    outside.mkdir(exist_ok=True)
    reads = [_read(outside / name) for name in ("one.txt", "two.txt")]
    words = {"~first~": reads, "~second~": reads[:1], "~third~": reads[:1]}
    sessions = {}
    for word, calls in words.items():
        stage.model_says(Answer("", tool_calls=tuple(calls), finish="tool_calls"), Answer("done"), to=word)
        created = stage.call("POST", f"/session{where}", {"title": "trusting"})
        sessions[word] = str(created.json()["id"])
    for count, word in ((2, "~first~"), (3, "~second~")):
        stage.prompt(sessions[word], word)
        asked = _ids_asked(stage, heard, count)
    stage.call("POST", f"/permission/{asked[0]}/reply{where}", {"reply": "always"})
    stage.idle(heard, sessions["~first~"])
    stage.call("GET", f"/permission{where}")
    stage.prompt(sessions["~third~"], "~third~")
    stage.idle(heard, sessions["~third~"])
    stage.call("POST", f"/permission/{asked[2]}/reply{where}", {"reply": "once"})
    stage.idle(heard, sessions["~second~"])


@scenario
def permission_denied(stage: Stage) -> None:
    """Tools that a session's rules deny: all of them, and one for what it is wanted for."""
    heard = stage.listen()
    rules = {
        "~all~": [{"permission": "*", "pattern": "*", "action": "deny"}],
        "~some~": [{"permission": "bash", "pattern": "echo *", "action": "deny"}],
    }
    for word, denied in rules.items():
        session = stage.session(permission=denied)
        stage.model_says(Answer("", tool_calls=(_echo("one"),), finish="tool_calls"), Answer("done"), to=word)
        stage.prompt(session, word)
        stage.idle(heard, session)


@scenario
def permission_outside(stage: Stage) -> None:
    """The default configuration asks before a read outside the folder."""
    heard = stage.listen()
    session = stage.session()
    stage.model_says(Answer("", tool_calls=(OUTSIDE,), finish="tool_calls"), Answer("done"))
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


@scenario
def reply_refusals(stage: Stage) -> None:
    """What replies to permissions and questions are refused, before one that is taken."""
    heard = stage.listen()
    session = stage.session()
    call = _read(stage.project_folder.parent / "asked.txt")
    stage.model_says(Answer("", tool_calls=(call,), finish="tool_calls"), Answer("done"), to="~permission~")
    stage.prompt(session, "~permission~")
    permission = f"/permission/{_ids_asked(stage, heard, 1)[0]}/reply"
    replies: tuple[Any, ...] = (b"", b"[]", {}, {"reply": 1}, {"reply": None}, {"reply": "once", "message": 1})
    for body in replies:
        stage.call("POST", permission, body)
    stage.call("POST", "/permission/nonsense/reply", {"reply": "once"})
    stage.call("POST", permission, {"reply": "once"})
    stage.idle(heard, session)
    session = stage.session()
    stage.model_says(Answer("", tool_calls=(_QUESTION,), finish="tool_calls"), Answer("done"), to="~question~")
    stage.prompt(session, "~question~")
    stage.wait(heard, is_event("question.asked"))
    asked = next(str(e["properties"]["id"]) for e in stage.events(heard) if e["type"] == "question.asked")
    answers: tuple[Any, ...] = (b"", {}, {"answers": "A"}, {"answers": ["A"]}, {"answers": [[1]]})
    for body in answers:
        stage.call("POST", f"/question/{asked}/reply", body)
    stage.call("POST", "/question/nonsense/reply", {"answers": [["A"]]})
    stage.call("POST", f"/question/{asked}/reply", {"answers": []})
    stage.idle(heard, session)
