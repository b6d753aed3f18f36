"""What prompt_async answers, before any turn."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from harness.actors import JournalReader, Script
from harness.check import expect
from harness.expectations import shown
from harness.fakes.model.script import Answer
from harness.opencode_calls import (
    MODEL,
    Opencode,
    calls_with,
    errors,
    expect_not_found,
    expect_unknown_error,
    has,
    idle,
    kinds,
    of,
    prompt,
)

MEND = "do as opencode does"
AT_ONCE, TRIES = 1.0, 3
"""Seconds in which a prompt is taken, and how often it may be tried on a machine that does much else."""

TEXT = {"type": "text", "text": "x"}
ACCEPTED: dict[str, dict[str, Any]] = {
    "a plain prompt": {},
    "an unknown model": {"model": {"providerID": "litellm", "modelID": "nope"}},
    "no parts": {"parts": []},
    "an unknown key": {"nonsense": 1},
}
REFUSED: dict[str, tuple[Any, str]] = {
    "no body": (b"", "Expected object, got undefined"),
    "a list": (b"[]", "Expected object, got []"),
    "no parts": ({}, 'Missing key\n  at ["parts"]'),
    "a part without text": ({"parts": [{"type": "text"}]}, 'Missing key\n  at ["parts"][0]["text"]'),
    "text that is a number": (
        {"parts": [{"type": "text", "text": 1}]},
        'Expected string, got 1\n  at ["parts"][0]["text"]',
    ),
    "a file without its type": (
        {"parts": [{"type": "file", "url": "file:///x"}]},
        'Missing key\n  at ["parts"][0]["mime"]',
    ),
    "a model without its id": (
        {"parts": [TEXT], "model": {"providerID": "litellm"}},
        'Missing key\n  at ["model"]["modelID"]',
    ),
    "parts that are text": ({"parts": "x"}, 'Expected array, got "x"\n  at ["parts"]'),
    "parts that are nothing": ({"parts": None}, 'Expected array, got null\n  at ["parts"]'),
    "a file without its address": (
        {"parts": [{"type": "file", "mime": "text/plain"}]},
        'Missing key\n  at ["parts"][0]["url"]',
    ),
    "a tool that is neither on nor off": (
        {"parts": [TEXT], "tools": {"bash": 1}},
        'Expected boolean, got 1\n  at ["tools"]["bash"]',
    ),
    "a message with a foreign id": (
        {"parts": [TEXT], "messageID": "x"},
        'Expected a string starting with "msg", got "x"\n  at ["messageID"]',
    ),
}


@pytest.mark.requirement("OS-PROMPT-1")
@pytest.mark.parametrize("body", ACCEPTED)
def test_a_prompt_is_taken_at_once(opencode: Opencode, script: Script, nonce: Callable[[str], str], body: str) -> None:
    """204 while the model is still silent, whatever will come of the turn."""
    script.answer("hang", Answer(fault="hang"))
    took: list[float] = []
    for count in range(TRIES):
        session = opencode.session(f"session {count}")
        reply = opencode.prompt(f"prompt {count}", session, nonce("asked"), **ACCEPTED[body])
        opencode.abort(f"abort {count}", session)
        expect(reply.status == 204 and not reply.body, f"204 for {body}", shown(reply), MEND, reply)
        took.append(reply.duration or 0.0)
        if took[-1] < AT_ONCE:
            break
    expect(min(took) < AT_ONCE, f"an answer within {AT_ONCE:g} s", f"after {took} s", MEND, reply)


@pytest.mark.requirement("OS-PROMPT-9")
def test_the_agent_of_the_prompt_answers(opencode: Opencode, script: Script, nonce: Callable[[str], str]) -> None:
    """In the user's message, in the answer, and in the session."""
    script.answer("answer", Answer("ok"), nonce=nonce("asked"))
    session = opencode.session()
    reply = opencode.message("ask", session, nonce("asked"), agent="plan")
    listed = [entry["info"] for entry in opencode.messages("messages", session)]
    named = [(info["role"], info.get("agent"), info.get("mode")) for info in listed]
    expect(named == [("user", "plan", None), ("assistant", "plan", "plan")], "agent plan", repr(named), MEND, reply)
    agent = opencode.call("read", "GET", f"/session/{session}").json().get("agent")
    expect(agent == "plan", "the session's agent plan", repr(agent), MEND, reply)


@pytest.mark.requirement("OS-PROMPT-2")
def test_a_prompt_to_no_session_is_refused(opencode: Opencode) -> None:
    """404 for an id of the right form, 500 for another."""
    expect_not_found(opencode.prompt("unknown", "ses_x", "x"), "Session not found: ses_x")
    expect_unknown_error(opencode.prompt("malformed", "nonsense", "x"))


@pytest.mark.requirement("OS-PROMPT-3")
@pytest.mark.parametrize("route", ["prompt_async", "message"])
def test_a_prompt_that_is_not_json_breaks(opencode: Opencode, route: str) -> None:
    """500, not 400."""
    session = opencode.session()
    expect_unknown_error(opencode.call("prompt", "POST", f"/session/{session}/{route}", b"{"))


@pytest.mark.requirement("OS-PROMPT-4")
@pytest.mark.parametrize("body", REFUSED)
def test_a_prompt_of_the_wrong_shape_is_refused(opencode: Opencode, body: str) -> None:
    """400, with the place."""
    sent, message = REFUSED[body]
    session = opencode.session()
    reply = opencode.call("prompt", "POST", f"/session/{session}/prompt_async", sent)
    wanted = {"name": "BadRequest", "data": {"message": message, "kind": "Payload"}}
    expect(reply.status == 400 and reply.json() == wanted, f"400 {wanted}", shown(reply), MEND, reply)


@pytest.mark.requirement("OS-PROMPT-5")
def test_a_prompt_that_wants_no_reply_is_kept(
    opencode: Opencode, script: Script, journal: JournalReader, nonce: Callable[[str], str]
) -> None:
    """A user message in the list, and nothing at the model server."""
    script.answer("answer", Answer("not wanted"), nonce=nonce("asked"))
    ear = opencode.listen()
    session = opencode.session()
    reply = opencode.prompt("prompt", session, nonce("asked"), noReply=True)
    ear.until("kept", has("message.updated", session))
    calls = calls_with(journal, "model", nonce("asked"))
    expect(not calls, "no model call", f"{len(calls)}", MEND, reply)
    roles = [message["info"]["role"] for message in opencode.messages("messages", session)]
    expect(roles == ["user"], "the user's message alone", repr(roles), MEND, reply)


@pytest.mark.requirement("OS-PROMPT-6")
def test_a_prompt_to_a_busy_session_waits(
    opencode: Opencode, script: Script, journal: JournalReader, nonce: Callable[[str], str]
) -> None:
    """Both are answered, one after the other, and idle comes once."""
    slow = Answer("a first answer", piece=2, pause=0.05)
    script.answer("answers", slow, Answer("a second"), nonce=nonce("one"))
    ear = opencode.listen()
    session = opencode.session()
    opencode.prompt("one", session, nonce("one"))
    ear.until("speaking", has("message.part.delta", session))
    reply = opencode.prompt("two", session, nonce("two"))
    expect(reply.status == 204, "204 while the session is busy", shown(reply), MEND, reply)
    events = of(session, ear.until("idle", idle(session)))
    said = kinds(events)
    expect(said.count("session.idle") == 1, "one idle at the end", str(said[-8:]), MEND, reply)
    calls = calls_with(journal, "model", nonce("one"))
    expect(len(calls) == 2 and nonce("two") in calls[-1].request.body.decode(), "two model calls", "else", MEND, reply)


@pytest.mark.requirement("OS-PROMPT-7")
@pytest.mark.parametrize("model", [("litellm", "nope"), ("nope", "small-1")], ids=["model", "provider"])
def test_an_unknown_model_is_an_error_of_the_session(
    opencode: Opencode, journal: JournalReader, nonce: Callable[[str], str], model: tuple[str, str]
) -> None:
    """Told on the stream only."""
    ear = opencode.listen()
    session = opencode.session()
    wanted = {"providerID": model[0], "modelID": model[1]}
    reply = opencode.prompt("prompt", session, nonce("asked"), model=wanted)
    events = of(session, ear.until("idle", idle(session)))
    said = [(error.get("name"), str(error.get("data", {}).get("message"))) for error in errors(session, events)]
    told = f"Model not found: {model[0]}/{model[1]}."
    right = said and said[0][0] == "UnknownError" and said[0][1].startswith(told)
    expect(bool(right), f"session.error UnknownError {told!r}", repr(said), MEND, reply)
    order = [kind for kind in kinds(events) if kind in ("session.error", "session.idle")][:2]
    expect(order == ["session.error", "session.idle"], "the error, then idle", repr(order), MEND, reply)
    calls = calls_with(journal, "model", nonce("asked"))
    expect(not calls, "no model call", str(len(calls)), MEND, reply)


@pytest.mark.requirement("OS-PROMPT-8")
def test_an_unknown_agent_is_two_errors_without_idle(
    opencode: Opencode, journal: JournalReader, nonce: Callable[[str], str]
) -> None:
    """Who waits for idle waits for ever."""
    ear = opencode.listen()
    session = opencode.session()
    body = prompt(nonce("asked"), agent="nobody", model=MODEL)
    reply = opencode.call("prompt", "POST", f"/session/{session}/prompt_async", body)
    ear.until("errors", has("session.error", session, 2))
    journal.read("quiet", "client")
    events = of(session, ear.until("afterwards", lambda _: True))
    said = [str(error.get("data", {}).get("message")) for error in errors(session, events)]
    right = len(said) == 2 and said[0].startswith('Agent not found: "nobody"')
    expect(right, "two errors, the first of which names the agent", repr(said), MEND, reply)
    expect("session.idle" not in kinds(events), "no idle", repr(kinds(events)), MEND, reply)
