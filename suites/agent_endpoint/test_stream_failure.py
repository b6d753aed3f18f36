"""How a stream says that its turn failed."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from harness.actors import Client, Script
from harness.chat import ask, post
from harness.check import expect
from harness.exchange import Request, parse_json
from harness.expectations import expect_completion, expect_said, expect_stream, shown
from harness.failed_turns import expect_failed_stream, expect_whole_or_failed
from harness.fakes.model.script import Answer
from harness.fixtures.opencode_events import SYNCHRONOUS, failed, idle, synchronous
from harness.fixtures.upstream_faults import upstream_fault
from harness.tap_script import Break, Inject, Reply, TapRule
from harness.target import Agent
from harness.target_keys import KeyFacts
from harness.telling import beginning

REFUSED = Answer(status=400, message="no such parameter")
HALF = "This is only half of it"


@pytest.fixture
def expect_streams(
    client: Client, script: Script, nonce: Callable[[str], str], key: KeyFacts, agent: Agent
) -> Callable[[], None]:
    """Expects that a turn that goes well is streamed: who fails always fails in the right way."""

    def expect_it() -> None:
        script.answer("good answer", Answer(text=nonce("good answer")), nonce=nonce("good question"))
        good = client.send("good stream", ask(agent.id, nonce("good question"), stream=True), key=key.name)
        expect_said(expect_stream(good, "a turn that goes well").text, nonce("good answer"), good)

    return expect_it


@pytest.mark.requirement("AE-STREAM-5")
@pytest.mark.parametrize(
    ("answer", "tampering"),
    [
        pytest.param(REFUSED, (), id="model server refuses the request"),
        pytest.param(Answer(status=401, message="bad key"), (), id="model server refuses the key"),
        pytest.param(Answer(text="", fault="bad_chunk"), (), id="model server says nothing but a broken chunk"),
        *(
            pytest.param(fault.answer, fault.tampering, id=f"{name} at opencode")
            for name in ("connection refused", "no session", "no prompt")
            for fault in [upstream_fault(name, "something is wrong")]
        ),
    ],
)
def test_a_failure_before_the_first_content_is_no_success(
    client: Client,
    script: Script,
    nonce: Callable[[str], str],
    key: KeyFacts,
    agent: Agent,
    expect_streams: Callable[[], None],
    answer: Answer,
    tampering: tuple[TapRule, ...],
) -> None:
    """It is a 502; or, where the stream had begun already, an error event in it."""
    script.answer("failure", answer, nonce=nonce("asked"))
    script.tamper("opencode", *tampering)
    reply = client.send("ask", ask(agent.id, nonce("asked"), stream=True), key=key.name)
    script.desist("nothing more")
    expect_failed_stream(reply, "a turn that fails before its first content")
    expect_streams()


WHOLE = f"{HALF}, and this the rest."
GOES_ON = Answer(text=WHOLE, piece=4, pause=0.05)
STOPS = Answer(text=HALF, piece=len(HALF), fault="hang_after_text")
ABORTED = {"name": "MessageAbortedError", "data": {"message": "Aborted"}}

IN_THE_TEXT = [
    pytest.param(Answer(text=HALF, piece=4, pause=0.05, fault="bad_chunk"), (), id="model breaks off"),
    pytest.param(
        GOES_ON,
        (Break("message.part.delta", "complete"), Reply("POST", SYNCHRONOUS, 200, '{"info": {', media="text/plain")),
        id="event stream ends",
    ),
    pytest.param(
        GOES_ON,
        (Break("message.part.delta", "reset"), Reply("POST", SYNCHRONOUS, None, None, ending="reset")),
        id="event stream is reset",
    ),
    pytest.param(
        STOPS,
        (Inject("message.part.delta", (failed(ABORTED),)), synchronous(HALF, error=ABORTED)),
        id="session is aborted",
    ),
    pytest.param(STOPS, (Inject("message.part.delta", idle()), synchronous(HALF)), id="session comes to rest"),
]


@pytest.mark.requirement("AE-STREAM-5")
@pytest.mark.parametrize(("answer", "tampering"), IN_THE_TEXT)
def test_a_failure_after_content_is_an_error_event(
    client: Client,
    script: Script,
    nonce: Callable[[str], str],
    key: KeyFacts,
    agent: Agent,
    expect_streams: Callable[[], None],
    answer: Answer,
    tampering: tuple[TapRule, ...],
) -> None:
    """The answer stops in the middle: a stream that has begun tells so, one that has not is a 502.

    What is lost on its way only may also be got by other means, and whole.
    """
    script.answer("half", answer, nonce=nonce("asked"))
    script.tamper("opencode", *tampering)
    reply = client.send("ask", ask(agent.id, nonce("asked"), stream=True), key=key.name)
    script.desist("nothing more")
    expect_whole_or_failed(reply, WHOLE, "a turn that fails after its first content")
    expect_streams()


@pytest.mark.requirement("AE-STREAM-5")
def test_text_that_was_sent_and_is_abandoned_is_an_error_event(
    client: Client,
    script: Script,
    nonce: Callable[[str], str],
    key: KeyFacts,
    agent: Agent,
    expect_streams: Callable[[], None],
) -> None:
    """opencode tries again after half an answer: what was sent cannot be taken back, what was not sent need not be."""
    abandoned = Answer(text=f"{nonce('abandoned')} is not all", piece=30, fault="error_chunk", message="overloaded")
    script.answer("two attempts", abandoned, Answer(text=nonce("said")), nonce=nonce("asked"))
    reply = client.send("ask", ask(agent.id, nonce("asked"), stream=True), key=key.name)
    if nonce("said") in reply.text and nonce("abandoned") not in reply.text:
        text = expect_stream(reply, "a turn that was mended").text
        mend = "stream the text of the attempt that succeeded, and no other"
        expect(text == nonce("said"), "the second attempt's text alone", beginning(text), mend, reply)
    else:
        expect_failed_stream(reply, "a turn whose text was abandoned")
    expect_streams()


@pytest.mark.requirement("AE-STREAM-9")
@pytest.mark.parametrize("stream", [False, True], ids=["json", "stream"])
@pytest.mark.parametrize("failure", ["failed turn", "unknown agent", "no messages", "not json"])
def test_no_success_carries_an_error_as_its_body(
    client: Client,
    script: Script,
    nonce: Callable[[str], str],
    key: KeyFacts,
    agent: Agent,
    stream: bool,
    failure: str,
) -> None:
    """Clients tell a failure by its status before they look at the body."""
    script.answer("failure", REFUSED, nonce=nonce("failed"))
    script.answer("answer", Answer(text=nonce("said")), nonce=nonce("asked"))
    failing = {
        "failed turn": ask(agent.id, nonce("failed"), stream=stream),
        "unknown agent": ask(nonce("nobody"), "Hello", stream=stream),
        "no messages": post({"model": agent.id, "messages": [], "stream": stream}),
        "not json": Request("POST", "/v1/chat/completions", (("content-type", "application/json"),), b"{"),
    }
    reply = client.send("failing", failing[failure], key=key.name)
    success = reply.status is not None and 200 <= reply.status < 300
    body = parse_json(reply.body)
    enveloped = isinstance(body, dict) and "error" in body and body["error"] is not None
    mend = "give an error envelope the status of the error"
    expect(not (success and enveloped), "no error envelope as the body of a success", shown(reply), mend, reply)
    good = client.send("good", ask(agent.id, nonce("asked"), stream=stream), key=key.name)
    text = expect_stream(good, "stream: true").text if stream else expect_completion(good, "stream: false")
    expect_said(text, nonce("said"), good)
