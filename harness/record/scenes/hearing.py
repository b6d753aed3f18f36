"""Whose events are heard where."""

from __future__ import annotations

from harness.fakes.model.script import Answer, ToolCall
from harness.record.scenario import HALF, is_delta, scenario
from harness.record.stage import Stage


@scenario
def directories(stage: Stage) -> None:
    """Events and status are per directory; a prompt and an abort work from any."""
    other = stage.project_folder.parent / "other"
    other.mkdir(exist_ok=True)
    here, there, everywhere = stage.listen(), stage.listen(f"/event?directory={other}"), stage.listen("/global/event")
    session = str(stage.call("POST", f"/session?directory={other}", {"title": "elsewhere"}).json()["id"])
    stage.model_says(HALF)
    stage.prompt(session, "hello")
    stage.wait(there, is_delta, 2)
    stage.call("GET", "/session/status")
    stage.call("GET", f"/session/status?directory={other}")
    stage.call("GET", "/session/status", headers={"x-opencode-directory": str(other)})
    stage.call("POST", f"/session/{session}/abort")
    stage.idle(there, session)
    stage.quiet(here)
    stage.quiet(everywhere)


@scenario
def shared_stream(stage: Stage) -> None:
    """Two sessions at once share the stream; a late subscriber hears nothing of before."""
    early = stage.listen()
    first = stage.session()
    stage.model_says(Answer("one"), to="~first~")
    stage.model_says(Answer("two"), to="~second~")
    stage.prompt(first, "~first~")
    stage.idle(early, first)
    stage.listen()
    second = stage.session()
    stage.prompt(second, "~second~")
    stage.idle(early, second)


@scenario
def child(stage: Stage) -> None:
    """A child session made by the task tool."""
    heard = stage.listen()
    session = stage.session()
    arguments = '{"description": "look", "prompt": "~child~", "subagent_type": "general"}'
    stage.model_says(Answer("of the child"), to="~child~")
    call = ToolCall("task", arguments)
    stage.model_says(Answer("", tool_calls=(call,), finish="tool_calls"), Answer("done"), to="~parent~")
    stage.prompt(session, "~parent~")
    stage.idle(heard, session)
    stage.call("GET", f"/session/{session}/children")


@scenario
def broken_skill(stage: Stage) -> None:
    """A skill file that is broken is passed over: no error is told, and the turn ends well."""
    folder = stage.project_folder.parent / "skilled"
    for name in ("skill", "skills"):
        skill = folder / ".opencode" / name / "bad"
        skill.mkdir(parents=True, exist_ok=True)
        (skill / "SKILL.md").write_text("---\nname: bad\ndescription: [\n---\nbody\n", encoding="utf-8")
    heard = stage.listen(f"/event?directory={folder}")
    session = str(stage.call("POST", f"/session?directory={folder}", {"title": "skilled"}).json()["id"])
    stage.model_says(Answer("well"))
    stage.prompt(session, "hello")
    stage.idle(heard, session)
