"""A prompt that does not fit, and how the server tries to mend it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from harness.actors import JournalReader, Script
from harness.check import expect
from harness.fakes.model.script import Answer
from harness.opencode_calls import Opencode, errors, idle, kinds, named, of, parts

MEND = "do as opencode does"
OVER = Answer(
    status=400,
    message="This model's maximum context length is 8192 tokens. However, you requested 10000 tokens "
    "(9000 in the messages, 1000 in the completion). Please reduce the length of the messages or completion.",
)
OVERS = (
    OVER,
    Answer(status=413, message="Request Entity Too Large"),
    replace(OVER, status=500, headers=(("retry-after", "1"),)),
)


@pytest.mark.requirement("OS-COMPACT-1")
@pytest.mark.parametrize("over", OVERS, ids=["400", "413", "500"])
def test_an_overflow_that_cannot_be_mended_is_two_errors(
    opencode: Opencode, script: Script, journal: JournalReader, nonce: Callable[[str], str], over: Answer
) -> None:
    """The turn's, the summary's, then idle."""
    script.answer("over", over, nonce=nonce("asked"), summary=over)
    ear = opencode.listen()
    session = opencode.session()
    reply = opencode.prompt("ask", session, nonce("asked"))
    events = of(session, ear.until("idle", idle(session)))
    found = errors(session, events)
    names = [error.get("name") for error in found]
    expect(names == ["ContextOverflowError"] * 2, "two ContextOverflowError", repr(names), MEND, reply)
    data = found[0]["data"]
    whole = data.get("message") == over.message and over.message in str(data.get("responseBody"))
    expect(whole, "the model server's message and body", repr(data), MEND, reply)
    calls = journal.read("calls", "model")
    tools = ["tools" in call.request.json() for call in calls]
    expect(tools == [True, False], "the turn's call, and one without tools", repr(tools), MEND, reply)


@pytest.mark.requirement("OS-COMPACT-2")
def test_a_compaction_that_succeeds_lets_the_turn_go_on(
    opencode: Opencode, script: Script, nonce: Callable[[str], str]
) -> None:
    """Error, a part that asks for the compaction, summary, session.compacted, answer."""
    summary = Answer(nonce("summary"))
    script.answer("over, then well", OVER, Answer(nonce("said")), nonce=nonce("asked"), summary=summary)
    script.answer("after the compaction", Answer(nonce("said")), nonce=nonce("summary"), summary=summary)
    ear = opencode.listen()
    session = opencode.session()
    reply = opencode.prompt("ask", session, nonce("asked"))
    events = of(session, ear.until("idle", idle(session)))
    order = [kind for kind in kinds(events) if kind in ("session.error", "session.compacted", "session.idle")]
    expect(order[:2] == ["session.error", "session.compacted"], "an error, then compacted", repr(order), MEND, reply)
    asked = [part.get("auto") for part in parts(events) if part["type"] == "compaction"]
    expect(asked == [True], "one part of type compaction, with auto", repr(asked), MEND, reply)
    messages = [m for m in opencode.messages("messages", session) if m["info"]["role"] == "assistant"]
    told = [(m["info"].get("summary") is True, "".join(p.get("text", "") for p in m["parts"])) for m in messages]
    wanted = [(False, ""), (True, nonce("summary")), (False, nonce("said"))]
    expect(told == wanted, "the failed try, the summary, the answer", repr(told), MEND, reply)
    modes = [
        info["info"].get("mode") for info in named("message.updated", events) if info["info"].get("summary") is True
    ]
    expect(set(modes) == {"compaction"}, "mode compaction", repr(modes), MEND, reply)


@pytest.mark.requirement("OS-COMPACT-3")
def test_an_overflow_that_comes_again_is_compacted_again(
    opencode: Opencode, script: Script, journal: JournalReader, nonce: Callable[[str], str]
) -> None:
    """Without end; here the third try hangs, and is aborted."""
    script.answer("over again", OVER, OVER, Answer(fault="hang"))
    ear = opencode.listen()
    session = opencode.session()
    reply = opencode.prompt("ask", session, nonce("asked"))
    calls = journal.wait("calls", "model", lambda seen: len(seen) >= 5, 10.0)
    opencode.abort("abort", session)
    events = of(session, ear.until("idle", idle(session)))
    tools = ["tools" in call.request.json() for call in calls]
    wanted = [True, False, True, False, True]
    expect(tools == wanted, "turn, summary, turn, summary, turn", repr(tools), MEND, reply)
    expect(kinds(events).count("session.compacted") == 2, "two compactions", repr(kinds(events)), MEND, reply)
