"""Turns that end well."""

from __future__ import annotations

from typing import Any

from harness.fakes.model.script import Answer, ToolCall
from harness.record.scenario import ECHO, scenario, turn_of
from harness.record.stage import MODEL, Stage


@scenario
def turn(stage: Stage) -> None:
    """A normal turn."""
    turn_of(stage, Answer("Hello, this is an answer of several pieces."))


@scenario
def turn_synchronous(stage: Stage) -> None:
    """A turn by the synchronous route."""
    heard = stage.listen()
    session = stage.session()
    stage.model_says(Answer("Hello, this is an answer."))
    body = {"model": MODEL, "parts": [{"type": "text", "text": "hello"}]}
    reply = stage.call("POST", f"/session/{session}/message", body)
    stage.idle(heard, session)
    stage.call("GET", f"/session/{session}/message/{reply.json()['info']['id']}")
    stage.call("GET", f"/session/{session}/message?limit=1")
    stage.call("GET", f"/session/{session}")


@scenario
def turn_twice(stage: Stage) -> None:
    """Two turns in a session: the second model call holds the first."""
    heard = stage.listen()
    session = stage.session()
    stage.model_says(Answer("first"), Answer("second"))
    for count, text in enumerate(("one", "two"), 1):
        stage.prompt(session, text)
        stage.idle(heard, session, count)


@scenario
def turn_options(stage: Stage) -> None:
    """System text, tools switched off."""
    heard = stage.listen()
    for body in ({"system": "Speak plainly."}, {"tools": {"*": False}}, {"agent": "plan"}, {"variant": "x"}):
        session = stage.session()
        stage.prompt(session, "hello", **body)
        stage.idle(heard, session)
    session = stage.session(permission=[{"permission": "*", "pattern": "*", "action": "deny"}])
    stage.prompt(session, "hello")
    stage.idle(heard, session)


@scenario
def title(stage: Stage) -> None:
    """A session without a title has one made by the model."""
    heard = stage.listen()
    session = str(stage.call("POST", "/session", {}).json()["id"])
    stage.model_says(Answer("answer"))
    stage.prompt(session, "hello")
    stage.idle(heard, session)
    stage.quiet(heard, 2.5)
    stage.call("GET", f"/session/{session}")


@scenario
def text_parts(stage: Stage) -> None:
    """Several text parts, one that is ignored, texts as files, and a part that names an agent."""
    (stage.project_folder / "told.txt").write_text("a line\nanother\n", encoding="utf-8")
    text = {"type": "text", "text": "one"}
    file = {"type": "file", "mime": "text/plain", "filename": "told.txt"}
    prompts: tuple[list[dict[str, Any]], ...] = (
        [text, {"type": "text", "text": "two"}, {"type": "text", "text": "three", "ignored": True}],
        [text, {**file, "url": "data:text/plain;base64,aGVsbG8="}],
        [{**file, "url": f"file://{stage.project}/told.txt"}],
        [text, {"type": "agent", "name": "general"}],
    )
    heard = stage.listen()
    for parts in prompts:
        session = stage.session()
        stage.prompt(session, "", parts=parts)
        stage.idle(heard, session)
        stage.call("GET", f"/session/{session}/message")


@scenario
def reasoning(stage: Stage) -> None:
    """Reasoning, in either field."""
    heard = stage.listen()
    for name in ("reasoning_content", "reasoning"):
        session = stage.session()
        stage.model_says(
            Answer("The answer.", reasoning="Let me think about it.", reasoning_field=name), to=f"~{name}~"
        )
        stage.prompt(session, f"~{name}~")
        stage.idle(heard, session)


@scenario
def empty_prompt(stage: Stage) -> None:
    """Empty user text, and white space."""
    heard = stage.listen()
    for text in ("", "   "):
        session = stage.session()
        stage.prompt(session, text)
        stage.idle(heard, session)


@scenario
def empty_completion(stage: Stage) -> None:
    """An empty completion that stopped on length; one with no text that stopped."""
    heard = stage.listen()
    for finish in ("length", "stop", "content_filter"):
        session = stage.session()
        stage.model_says(Answer("", finish=finish), to=f"~{finish}~")
        stage.prompt(session, f"~{finish}~")
        stage.idle(heard, session)


@scenario
def line_separators(stage: Stage) -> None:
    """Line separators of Unicode in the text."""
    turn_of(stage, Answer("a\u0085b\u2028c\u2029d", piece=2), listing=False)


def _read_note(stage: Stage) -> ToolCall:
    """A call of a tool that reads a note, which is there."""
    (stage.project_folder / "note.txt").write_text("a line\n", encoding="utf-8")
    return ToolCall("read", '{"filePath": "' + stage.project + '/note.txt"}')


@scenario
def tool(stage: Stage) -> None:
    """A tool that exists, and the step after it."""
    turn_of(
        stage, Answer("Let me look.", tool_calls=(_read_note(stage),), finish="tool_calls"), Answer("It says a line.")
    )


@scenario
def tool_bash(stage: Stage) -> None:
    """A shell command."""
    turn_of(stage, Answer("", tool_calls=(ECHO,), finish="tool_calls"), Answer("done"))


@scenario
def tool_with_other_finish(stage: Stage) -> None:
    """Tool calls whose finish reason is another: a step follows all the same."""
    heard = stage.listen()
    cut_off = ToolCall("read", '{"filePath": "note.txt"')
    read = _read_note(stage)
    for call, finish in ((read, "stop"), (read, "length"), (cut_off, "length"), (read, "content_filter")):
        session = stage.session()
        word = f"~{len(stage.calls)}~"
        stage.model_says(Answer("", tool_calls=(call,), finish=finish), Answer("done"), to=word)
        stage.prompt(session, word)
        stage.idle(heard, session)


@scenario
def tool_wrong(stage: Stage) -> None:
    """A tool that is not there, and arguments that are wrong."""
    heard = stage.listen()
    for call in (ToolCall("nonsense"), ToolCall("read", "{}"), ToolCall("read", "{")):
        session = stage.session()
        word = f"~{call.name} {call.arguments}~"
        stage.model_says(Answer("", tool_calls=(call,), finish="tool_calls"), Answer("done"), to=word)
        stage.prompt(session, word)
        stage.idle(heard, session)
