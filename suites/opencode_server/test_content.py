"""What the model says, and what it is asked: reasoning, nothing, tools."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from harness.actors import JournalReader, Script
from harness.check import expect
from harness.fakes.model.script import Answer, ToolCall, messages_of
from harness.opencode_calls import (
    Opencode,
    calls_with,
    errors,
    idle,
    kinds,
    named,
    of,
    parts,
    text_of_deltas,
)
from harness.telling import beginning

MEND = "do as opencode does"
ECHO = ToolCall("bash", '{"command": "echo hi", "description": "says hi"}')
AGAIN = ToolCall("bash", '{"command": "echo ho", "description": "says ho"}')
WRONG = {
    "no such tool": (ToolCall("nonsense"), "unavailable tool", ("invalid", "completed")),
    "a key is missing": (ToolCall("read"), "invalid arguments", ("read", "error")),
    "not JSON": (ToolCall("read", "{"), "JSON", ("invalid", "completed")),
}


@pytest.mark.requirement("OS-REASON-1")
@pytest.mark.parametrize("field", ["reasoning_content", "reasoning"])
def test_reasoning_is_told_by_its_part(
    opencode: Opencode, script: Script, nonce: Callable[[str], str], field: str
) -> None:
    """Its deltas look like those of text."""
    answer = Answer("The answer.", reasoning="Let me think about it.", reasoning_field=field)
    script.answer("answer", answer, nonce=nonce("asked"))
    ear = opencode.listen()
    session = opencode.session()
    reply = opencode.prompt("ask", session, nonce("asked"))
    events = of(session, ear.until("idle", idle(session)))
    thought = [part for part in parts(events) if part["type"] == "reasoning"]
    texts = [part.get("text") for part in thought]
    expect(texts == ["", answer.reasoning], "a part of type reasoning", repr(texts), MEND, reply)
    joined = text_of_deltas(events, thought[0]["id"])
    expect(joined == answer.reasoning, "its deltas", repr(joined), MEND, reply)
    fields = {delta.get("field") for delta in named("message.part.delta", events)}
    expect(fields == {"text"}, "field text in every delta", repr(fields), MEND, reply)


@pytest.mark.requirement("OS-EMPTY-1")
@pytest.mark.parametrize("text", ["", "   "], ids=["empty", "white space"])
def test_an_empty_prompt_runs_a_turn(
    opencode: Opencode, script: Script, journal: JournalReader, nonce: Callable[[str], str], text: str
) -> None:
    """Empty text is left out of the model call, white space is not."""
    script.answer("answer", Answer(nonce("said")))
    session = opencode.session()
    reply = opencode.message("ask", session, text)
    expect(nonce("said") in reply.text, "an answer", beginning(reply.text, 200), MEND, reply)
    calls = journal.read("calls", "model")
    told = [content for role, content in messages_of(calls[-1].request.json()) if role == "user"] if calls else ["?"]
    expect(told == ([text] if text else []), "what is passed on", repr(told), MEND, reply)


@pytest.mark.requirement("OS-EMPTY-2")
def test_nothing_that_stopped_on_length(opencode: Opencode, script: Script, nonce: Callable[[str], str]) -> None:
    """A step without text, then idle, and no error."""
    script.answer("nothing", Answer("", finish="length"), nonce=nonce("asked"))
    ear = opencode.listen()
    session = opencode.session()
    reply = opencode.prompt("ask", session, nonce("asked"))
    events = of(session, ear.until("idle", idle(session)))
    made = [(part["type"], part.get("reason")) for part in parts(events)][1:]
    wanted = [("step-start", None), ("step-finish", "length")]
    expect(made == wanted, repr(wanted), repr(made), MEND, reply)
    expect("session.error" not in kinds(events), "no error", repr(kinds(events)), MEND, reply)


@pytest.mark.requirement("OS-EMPTY-3")
def test_filtered_content_is_an_error(opencode: Opencode, script: Script, nonce: Callable[[str], str]) -> None:
    """After the step has finished."""
    script.answer("filtered", Answer("", finish="content_filter"), nonce=nonce("asked"))
    ear = opencode.listen()
    session = opencode.session()
    reply = opencode.prompt("ask", session, nonce("asked"))
    events = of(session, ear.until("idle", idle(session)))
    reasons = [part["reason"] for part in parts(events) if part["type"] == "step-finish"]
    expect(reasons == ["content-filter"], "reason content-filter", repr(reasons), MEND, reply)
    names = [error.get("name") for error in errors(session, events)]
    wanted = opencode.held_to("filtered content", {"1.18.33": ["ContentFilterError"]})
    expect(names == wanted, repr(wanted), repr(names), MEND, reply)


@pytest.mark.requirement("OS-TOOL-1")
def test_a_tool_call_runs_and_a_step_follows(
    opencode: Opencode, script: Script, journal: JournalReader, nonce: Callable[[str], str]
) -> None:
    """pending, running, completed; tool-calls; then the answer."""
    script.answer("steps", Answer("", tool_calls=(ECHO,), finish="tool_calls"), Answer("done"), nonce=nonce("asked"))
    ear = opencode.listen()
    session = opencode.session()
    reply = opencode.prompt("ask", session, nonce("asked"))
    events = of(session, ear.until("idle", idle(session)))
    states = [part["state"]["status"] for part in parts(events) if part["type"] == "tool"]
    expect(
        list(dict.fromkeys(states)) == ["pending", "running", "completed"], "three states", repr(states), MEND, reply
    )
    reasons = [part["reason"] for part in parts(events) if part["type"] == "step-finish"]
    expect(reasons == ["tool-calls", "stop"], "tool-calls, then stop", repr(reasons), MEND, reply)
    calls = calls_with(journal, "calls", nonce("asked"))
    told = messages_of(calls[-1].request.json())[-1]
    expect(told == ("tool", "hi\n"), "the tool's output at the model", repr(told), MEND, calls[-1])


@pytest.mark.requirement("OS-TOOL-4")
@pytest.mark.parametrize("finish", ["stop", "length"])
def test_a_tool_is_run_whatever_the_finish_reason(
    opencode: Opencode, script: Script, journal: JournalReader, nonce: Callable[[str], str], finish: str
) -> None:
    """The step keeps its reason, and another follows."""
    script.answer("steps", Answer("", tool_calls=(ECHO,), finish=finish), Answer("done"), nonce=nonce("asked"))
    ear = opencode.listen()
    session = opencode.session()
    reply = opencode.prompt("ask", session, nonce("asked"))
    events = of(session, ear.until("idle", idle(session)))
    reasons = [part["reason"] for part in parts(events) if part["type"] == "step-finish"]
    expect(reasons == [finish, "stop"], f"{finish}, then stop", repr(reasons), MEND, reply)
    calls = calls_with(journal, "calls", nonce("asked"))
    told = messages_of(calls[-1].request.json())[-1]
    expect(told == ("tool", "hi\n"), "the tool's output at the model", repr(told), MEND, calls[-1])


@pytest.mark.requirement("OS-TOOL-2")
@pytest.mark.parametrize("call", WRONG)
def test_a_wrong_call_is_told_to_the_model(
    opencode: Opencode, script: Script, journal: JournalReader, nonce: Callable[[str], str], call: str
) -> None:
    """And the turn goes on. What the model calls wrongly ends as a call of the tool `invalid`, or as an error."""
    wrong, word, end = WRONG[call]
    script.answer("steps", Answer("", tool_calls=(wrong,), finish="tool_calls"), Answer("done"), nonce=nonce("asked"))
    ear = opencode.listen()
    session = opencode.session()
    reply = opencode.prompt("ask", session, nonce("asked"))
    events = of(session, ear.until("idle", idle(session)))
    expect("session.error" not in kinds(events), "no error", repr(kinds(events)), MEND, reply)
    calls = calls_with(journal, "calls", nonce("asked"))
    told = [text for role, text in messages_of(calls[-1].request.json()) if role == "tool"]
    right = len(calls) == 2 and len(told) == 1 and word in told[0]
    expect(right, f"a second call that says {word!r}", repr(told), MEND, reply)
    states = [(part["tool"], part["state"]["status"]) for part in parts(events) if part["type"] == "tool"]
    expect(states[-1:] == [end], f"a call that ends as {end}", repr(states), MEND, reply)


@pytest.mark.requirement("OS-TOOL-3")
def test_all_calls_of_a_step_run(
    opencode: Opencode, script: Script, journal: JournalReader, nonce: Callable[[str], str]
) -> None:
    """Their results are told to the model in their order."""
    script.answer(
        "steps", Answer("", tool_calls=(ECHO, AGAIN), finish="tool_calls"), Answer("done"), nonce=nonce("asked")
    )
    ear = opencode.listen()
    session = opencode.session()
    reply = opencode.prompt("ask", session, nonce("asked"))
    events = of(session, ear.until("idle", idle(session)))
    ends = {part["callID"]: part["state"]["status"] for part in parts(events) if part["type"] == "tool"}
    expect(list(ends.values()) == ["completed"] * 2, "two calls that ran", repr(ends), MEND, reply)
    calls = calls_with(journal, "calls", nonce("asked"))
    told = [text for role, text in messages_of(calls[-1].request.json()) if role == "tool"]
    expect((len(calls), told) == (2, ["hi\n", "ho\n"]), "both results in one call", repr(told), MEND, reply)
