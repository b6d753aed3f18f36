"""Ending a turn from outside."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from harness.actors import JournalReader, Script
from harness.check import Inconclusive, expect
from harness.expectations import shown
from harness.fakes.model.script import Answer
from harness.opencode_calls import (
    Opencode,
    await_calls,
    calls_with,
    errors,
    expect_unknown_error,
    has,
    idle,
    kinds,
    named,
    of,
    prompt,
)
from harness.target import Facts

MEND = "do as opencode does"
HANG = Answer(fault="hang")
HALF = Answer("half of an answer", fault="hang_after_text")
ABORTED = "MessageAbortedError"
LONG = 60
"""Seconds to wait, for which a model server asks."""

SLACK = 10.0


@pytest.mark.requirement("OS-ABORT-1")
@pytest.mark.parametrize("answer", [HANG, HALF], ids=["silent", "speaking"])
def test_a_turn_is_aborted(
    opencode: Opencode, script: Script, journal: JournalReader, nonce: Callable[[str], str], answer: Answer
) -> None:
    """true; the model call is closed; an error, then idle, which comes twice."""
    script.answer("answer", answer, nonce=nonce("asked"))
    ear = opencode.listen()
    session = opencode.session()
    opencode.prompt("ask", session, nonce("asked"))
    await_calls(journal, "asked", nonce("asked"))
    reply = opencode.abort("abort", session)
    expect(reply.status == 200 and reply.json() is True, "200 true", shown(reply), MEND, reply)
    events = of(session, ear.until("idle twice", idle(session, 2)))
    names = [error.get("name") for error in errors(session, events)]
    expect(names == [ABORTED], ABORTED, repr(names), MEND, reply)
    order = [kind for kind in kinds(events) if kind in ("session.error", "session.idle")]
    wanted = ["session.error", "session.idle", "session.idle"]
    expect(order == wanted, "the error, then idle twice", repr(order), MEND, reply)
    calls = journal.wait("closed", "model", lambda seen: all(call.end != "open" for call in seen), 5.0)
    expect(calls[0].end == "gone", "a model call that was left", calls[0].end, MEND, calls[0])
    told = opencode.messages("messages", session)[-1]["info"].get("error", {}).get("name")
    expect(told == ABORTED, "the error in the message", repr(told), MEND, reply)


@pytest.mark.requirement("OS-ABORT-2")
def test_aborting_nothing_is_fine(opencode: Opencode) -> None:
    """true for an idle session and for one that does not exist; 500 for an id that is none."""
    for label, session in (("idle", opencode.session()), ("unknown", "ses_x")):
        reply = opencode.abort(label, session)
        expect(reply.status == 200 and reply.json() is True, f"200 true for {label}", shown(reply), MEND, reply)
    expect_unknown_error(opencode.abort("malformed", "nonsense"))


@pytest.mark.requirement("OS-ABORT-3")
def test_aborting_a_wait_is_idle_without_an_error(
    opencode: Opencode, script: Script, journal: JournalReader, nonce: Callable[[str], str], target: Facts
) -> None:
    """And the call is not tried again. Until then the session's status says what it waits for."""
    wish = (("retry-after", str(LONG)),)
    script.answer("boom", Answer(status=500, message="boom", headers=wish), nonce=nonce("asked"))
    ear = opencode.listen()
    session = opencode.session()
    opencode.prompt("ask", session, nonce("asked"))
    waits = has("session.status retry", session)
    events = ear.until("waiting", waits)
    if not waits(events):
        raise Inconclusive("the turn did not come to wait")
    listed = opencode.call("status", "GET", "/session/status")
    status = listed.json().get(session, {}) if isinstance(listed.json(), dict) else {}
    right = (status.get("type"), status.get("attempt"), status.get("message")) == ("retry", 1, "boom")
    expect(right, "retry 1 of boom in the list", shown(listed), MEND, listed)
    told = named("session.status retry", of(session, events))[-1]["status"]
    expect(told == status, f"the same status on the stream: {status}", repr(told), MEND, listed)
    since = opencode.messages("messages", session)[-1]["info"]["time"]["created"]
    wait, ahead = LONG / target.pace, (status.get("next", 0) - since) / 1000
    right = 0.95 * wait <= ahead <= wait + SLACK
    expect(right, f"next {wait:g} s ahead, in milliseconds", f"{ahead:.2f} s", MEND, listed)
    reply = opencode.abort("abort", session)
    events = of(session, ear.until("idle", idle(session)))
    said = [kind for kind in kinds(events) if kind in ("session.error", "session.idle")]
    expect(said == ["session.idle"], "idle, and no error", repr(said), MEND, reply)
    calls = calls_with(journal, "calls", nonce("asked"))
    expect(len(calls) == 1, "no further model call", str(len(calls)), MEND, reply)


@pytest.mark.requirement("OS-ABORT-4")
def test_aborting_right_behind_the_prompt_leaves_no_call_open(
    opencode: Opencode, script: Script, journal: JournalReader, nonce: Callable[[str], str]
) -> None:
    """However far the turn had come: the error is told once the model is to be called, and not before."""
    script.answer("hang", HANG, nonce=nonce("asked"))
    ear = opencode.listen()
    session = opencode.session()
    opencode.prompt("ask", session, nonce("asked"))
    reply = opencode.abort("abort", session)
    ear.until("over", lambda seen: idle(session, 2 if has("session.error", session)(seen) else 1)(seen), 5.0)
    ear.settle("settled")
    calls = calls_with(journal, "calls", nonce("asked"))
    expect(all(call.end != "open" for call in calls), "no open model call", "one", MEND, reply)
    said = kinds(of(session, ear.until("afterwards", bool)))
    found = [entry["info"] for entry in opencode.messages("messages", session) if entry["info"]["role"] != "user"]
    came = (said.count("session.error"), said.count("session.idle"), len(calls))
    wanted = [(1, 2, 0), (1, 2, 1), (0, 1, 0)]
    expect(came in wanted, f"errors, idles and model calls as one of {wanted}", f"{came}: {said}", MEND, reply)
    names = [info.get("error", {}).get("name") for info in found]
    right = names == [ABORTED] or (not names and not came[0])
    expect(right, f"an answer with {ABORTED}, or none where no error was told", repr(names), MEND, reply)


@pytest.mark.requirement("OS-ABORT-5")
def test_an_aborted_synchronous_call_is_answered(
    opencode: Opencode, script: Script, journal: JournalReader, nonce: Callable[[str], str]
) -> None:
    """With the error in the message."""
    script.answer("hang", HANG, nonce=nonce("asked"))
    session = opencode.session()
    call = opencode.begin("ask", "POST", f"/session/{session}/message", prompt(nonce("asked")))
    await_calls(journal, "asked", nonce("asked"))
    opencode.abort("abort", session)
    reply = call.result()
    body = reply.json() if isinstance(reply.json(), dict) else {}
    name = body.get("info", {}).get("error", {}).get("name")
    expect(reply.status == 200 and name == ABORTED, f"200 with {ABORTED}", shown(reply), MEND, reply)


@pytest.mark.requirement("OS-ABORT-6")
def test_deleting_a_busy_session_tells_no_idle(
    opencode: Opencode, script: Script, journal: JournalReader, nonce: Callable[[str], str]
) -> None:
    """Who waits for idle waits for ever."""
    script.answer("hang", HANG, nonce=nonce("asked"))
    ear = opencode.listen()
    session = opencode.session()
    opencode.prompt("ask", session, nonce("asked"))
    await_calls(journal, "asked", nonce("asked"))
    reply = opencode.call("delete", "DELETE", f"/session/{session}")
    ear.until("deleted", has("session.deleted", session))
    ear.settle("settled")
    events = kinds(of(session, ear.until("afterwards", bool)))
    expect(reply.json() is True and "session.deleted" in events, "session.deleted", repr(events[-3:]), MEND, reply)
    expect("session.idle" not in events, "no idle", repr(events[-3:]), MEND, reply)
