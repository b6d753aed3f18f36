"""What the model server does wrong, and what comes of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from harness.actors import JournalReader, Script
from harness.check import expect
from harness.fakes.model.script import Answer, Fault
from harness.opencode_calls import (
    Opencode,
    await_calls,
    calls_with,
    errors,
    has,
    idle,
    kinds,
    named,
    of,
    of_turn,
    parts,
)
from harness.target import Facts
from harness.telling import beginning

MEND = "do as opencode does"
SOON = (("retry-after", "1"),)
SLACK = 1.0
WISH = 4
"""Seconds to wait, for which a model server asks: longer than opencode waits of itself, drawn out as that is."""
RETRIES = {"1.18.14": None, "1.18.25": 5}
"""How often a call is tried again before the turn is given up; None for without end."""

_REFUSAL, _FULL = "that is not allowed", "This model's maximum context length is 8192 tokens."
_IN_STREAM = Answer("half of it", fault="error_chunk", message=_REFUSAL, error_type="invalid_request_error")
LASTING = [
    (Answer("half of it", fault="bad_chunk"), "JSON parsing failed"),
    (_IN_STREAM, _REFUSAL),
    (replace(_IN_STREAM, message=_FULL), _FULL),
]

UNFINISHED = {"1.18.14": 1, "1.18.25": 4}
"""How many calls an answer without a finish reason costs, up to the fourth, which hangs."""


@pytest.mark.requirement("OS-FAIL-1")
@pytest.mark.parametrize("status", [400, 401, 403, 404, 422])
def test_a_refusal_is_an_error_of_the_session(
    opencode: Opencode, script: Script, journal: JournalReader, nonce: Callable[[str], str], status: int
) -> None:
    """After one call, with what the model server said; then idle."""
    script.answer("refusal", Answer(status=status, message="no"), nonce=nonce("asked"))
    ear = opencode.listen()
    session = opencode.session()
    reply = opencode.prompt("ask", session, nonce("asked"))
    events = of(session, ear.until("idle", idle(session)))
    found = errors(session, events)
    expect([error.get("name") for error in found] == ["APIError"], "one APIError", repr(found), MEND, reply)
    data = found[0]["data"]
    said = (data.get("message"), data.get("statusCode"), data.get("isRetryable"))
    expect(said == ("no", status, False), repr(("no", status, False)), repr(said), MEND, reply)
    whole = '"message": "no"' in str(data.get("responseBody")) and "content-type" in data.get("responseHeaders", {})
    expect(whole, "the model server's headers and body", repr(data), MEND, reply)
    calls = calls_with(journal, "calls", nonce("asked"))
    expect(len(calls) == 1, "one model call", str(len(calls)), MEND, reply)
    order = [kind for kind in kinds(events) if kind in ("session.error", "session.idle")][:2]
    expect(order == ["session.error", "session.idle"], "the error, then idle", repr(order), MEND, reply)


@pytest.mark.requirement("OS-FAIL-2")
def test_a_server_error_is_tried_again(opencode: Opencode, script: Script, nonce: Callable[[str], str]) -> None:
    """Counted, after what the model server wishes, and given up as the version does."""
    bad = Answer(status=500, message="boom", headers=SOON)
    script.answer("boom", *[bad] * 6, Answer("the seventh"), nonce=nonce("asked"))
    ear = opencode.listen()
    session = opencode.session()
    reply = opencode.prompt("ask", session, nonce("asked"))
    events = of(session, ear.until("idle", idle(session)))
    retries = [properties["status"] for properties in named("session.status retry", events)]
    most = opencode.held_to("retries", RETRIES)
    count = 6 if most is None else most
    expect(
        [retry.get("attempt") for retry in retries] == [*range(1, count + 1)], f"{count} retries", repr(retries), MEND
    )
    expect(
        {retry.get("message") for retry in retries} == {"boom"}, "the reason in each", repr(retries[:1]), MEND, reply
    )
    wanted = [] if most is None else ["APIError"]
    found = errors(session, events)
    expect([error.get("name") for error in found] == wanted, f"errors {wanted}", repr(found), MEND, reply)
    if found:
        said = (found[0]["data"].get("statusCode"), found[0]["data"].get("isRetryable"))
        expect(said == (500, True), "status 500, retryable", repr(said), MEND, reply)


@pytest.mark.requirement("OS-FAIL-2")
@pytest.mark.parametrize("status", [429, 503])
def test_the_wait_is_what_the_model_server_wishes(
    opencode: Opencode, script: Script, journal: JournalReader, nonce: Callable[[str], str], target: Facts, status: int
) -> None:
    """One retry, which says when the next try begins, then busy again and the answer."""
    bad = Answer(status=status, message="slow down", headers=(("retry-after", str(WISH)),))
    script.answer("one bad", bad, Answer("mended"), nonce=nonce("asked"))
    ear = opencode.listen()
    session = opencode.session()
    reply = opencode.prompt("ask", session, nonce("asked"))
    events = of(session, ear.until("idle", idle(session)))
    calls = calls_with(journal, "calls", nonce("asked"))
    expect(len(calls) == 2, "two model calls", str(len(calls)), MEND, reply)
    gap, wait = calls[1].began - calls[0].began, WISH / target.pace
    expect(wait * 0.95 <= gap <= wait + SLACK, f"{wait:g} s between them", f"{gap:.2f} s", MEND, calls[1])
    told = kinds(of_turn(session, events))
    next_ = told[told.index("session.status retry") + 1]
    expect(next_ == "session.status busy", "busy right behind the retry", next_, MEND, reply)


@pytest.mark.requirement("OS-FAIL-3")
def test_the_waits_double(
    opencode: Opencode, script: Script, journal: JournalReader, nonce: Callable[[str], str], target: Facts
) -> None:
    """Two seconds, then four, each drawn out by up to a quarter."""
    script.answer("boom", Answer(status=500, message="boom"), nonce=nonce("asked"))
    ear = opencode.listen()
    session = opencode.session()
    reply = opencode.prompt("ask", session, nonce("asked"))
    calls = await_calls(journal, "three", nonce("asked"), 3)
    opencode.abort("abort", session)
    ear.until("idle", idle(session))
    for index, seconds in enumerate((2.0, 4.0)):
        gap, wait = calls[index + 1].began - calls[index].began, seconds / target.pace
        right = 0.95 * wait <= gap <= 1.25 * wait + SLACK
        expect(right, f"{wait:g} to {1.25 * wait:g} s before try {index + 2}", f"{gap:.2f} s", MEND, reply)


@pytest.mark.requirement("OS-FAIL-4")
@pytest.mark.parametrize("status", [400, 401])
def test_a_refusal_of_the_servers_type_is_tried_again(
    opencode: Opencode, script: Script, journal: JournalReader, nonce: Callable[[str], str], status: int
) -> None:
    """The error's type beats the status."""
    bad = Answer(status=status, message="boom", error_type="server_error", headers=SOON)
    script.answer("one bad", bad, Answer("mended"), nonce=nonce("asked"))
    reply = opencode.message("ask", opencode.session(), nonce("asked"))
    calls = calls_with(journal, "calls", nonce("asked"))
    expect(
        len(calls) == 2 and "mended" in reply.text,
        "a second call",
        f"{len(calls)}: {beginning(reply.text, 200)}",
        MEND,
        reply,
    )


@pytest.mark.requirement("OS-FAIL-5")
def test_an_abandoned_try_leaves_its_parts(opencode: Opencode, script: Script, nonce: Callable[[str], str]) -> None:
    """Its deltas were told; what is kept of it is empty."""
    bad = Answer("half of it", fault="error_chunk", message="overloaded")
    script.answer("one bad", bad, Answer("whole"), nonce=nonce("asked"))
    ear = opencode.listen()
    session = opencode.session()
    reply = opencode.prompt("ask", session, nonce("asked"))
    events = of(session, ear.until("idle", idle(session)))
    deltas = [(delta["partID"], delta["delta"]) for delta in named("message.part.delta", events)]
    told = [text for _, text in deltas]
    expect(told == ["half of it", "whole"], "the deltas of both tries", repr(told), MEND, reply)
    expect(deltas[0][0] != deltas[1][0], "in parts of their own", repr(deltas), MEND, reply)
    kept = [part["text"] for part in opencode.messages("messages", session)[-1]["parts"] if part["type"] == "text"]
    expect(kept == ["", "whole"], "the abandoned text kept as ''", repr(kept), MEND, reply)


@pytest.mark.requirement("OS-FAIL-6")
@pytest.mark.parametrize("fault", ["cut", "reset"])
def test_a_broken_connection_is_tried_again(
    opencode: Opencode, script: Script, journal: JournalReader, nonce: Callable[[str], str], fault: Fault
) -> None:
    """With a status retry that says so."""
    script.answer("one bad", Answer("half of it", fault=fault), Answer("whole"), nonce=nonce("asked"))
    ear = opencode.listen()
    session = opencode.session()
    reply = opencode.prompt("ask", session, nonce("asked"))
    events = of(session, ear.until("idle", idle(session)))
    said = [properties["status"].get("message", "") for properties in named("session.status retry", events)]
    expect(len(said) == 1 and "connection" in said[0].lower(), "one retry, for the connection", repr(said), MEND, reply)
    expect(len(calls_with(journal, "calls", nonce("asked"))) == 2, "two model calls", "else", MEND, reply)


@pytest.mark.requirement("OS-FAIL-7")
@pytest.mark.parametrize(("bad", "words"), LASTING, ids=["not JSON", "refusal", "overflow"])
def test_a_broken_event_is_an_error(
    opencode: Opencode, script: Script, journal: JournalReader, nonce: Callable[[str], str], bad: Answer, words: str
) -> None:
    """UnknownError, after one call; so is an error in a stream that would be the same the next time."""
    script.answer("bad", bad, nonce=nonce("asked"))
    ear = opencode.listen()
    session = opencode.session()
    reply = opencode.prompt("ask", session, nonce("asked"))
    events = of(session, ear.until("idle", idle(session)))
    said = [(error.get("name"), str(error.get("data", {}).get("message"))) for error in errors(session, events)]
    right = len(said) == 1 and said[0][0] == "UnknownError" and words in said[0][1]
    expect(right, f"one UnknownError that tells {words!r}", repr(said), MEND, reply)
    expect(len(calls_with(journal, "calls", nonce("asked"))) == 1, "one model call", "more", MEND, reply)


@pytest.mark.requirement("OS-FAIL-8")
@pytest.mark.parametrize("finish", [None, "error", "eos"])
def test_without_a_known_finish_reason_there_is_no_end(
    opencode: Opencode, script: Script, journal: JournalReader, nonce: Callable[[str], str], finish: str | None
) -> None:
    """Asked again and again; here the fourth call hangs, and is aborted."""
    endless = Answer("again", finish=finish)
    script.answer("endless", endless, endless, endless, Answer(fault="hang"), nonce=nonce("asked"))
    ear = opencode.listen()
    session = opencode.session()
    reply = opencode.prompt("ask", session, nonce("asked"))
    calls = journal.wait("four calls", "model", lambda seen: len(seen) >= 4, 5.0)
    opencode.abort("abort", session)
    events = of(session, ear.until("idle", idle(session)))
    reasons = [part["reason"] for part in parts(events) if part["type"] == "step-finish"]
    count = opencode.held_to("no finish reason", UNFINISHED)
    wanted = (count, ["unknown"] * min(count, 3))
    expect((len(calls), reasons) == wanted, f"calls and reasons {wanted}", f"{len(calls)}, {reasons}", MEND, reply)
    expect(has("session.idle", session)(events), "idle after the abort", repr(kinds(events)[-3:]), MEND, reply)
