"""How a stream says that its turn failed."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from harness.actors import Client, Script
from harness.chat import ask, post
from harness.check import expect
from harness.exchange import Exchange, Request, parse_json
from harness.expectations import ending, expect_completion, expect_refusal, expect_said, expect_stream, shown
from harness.fakes.model.script import Answer
from harness.sse import Event
from harness.target import Agent
from harness.target_keys import KeyFacts
from harness.telling import beginning

MEND = 'send `data: {"error": {"message": ..., "type": ..., "code": ...}}` and nothing but [DONE] after it'
REFUSED = Answer(status=400, message="no such parameter")


def error_in(event: Event) -> object:
    """The `error` that an event's data holds, or None."""
    data = event.json()
    return data.get("error") if isinstance(data, dict) else None


def expect_failed_stream(exchange: Exchange, why: str) -> None:
    """A JSON 502, or an event stream that holds one error and after it neither content nor a finish reason."""
    if exchange.content_type != "text/event-stream":
        expect_refusal(exchange, {502}, why, "answer 502 in the error envelope, or an error event in the stream")
        return
    stream = expect_stream(exchange, why)
    places = [index for index, event in enumerate(stream.events) if error_in(event) is not None]
    expected = f"one error event, the last but for [DONE], for {why}"
    expect(len(places) == 1, expected, f"{len(places)} in {ending(exchange)}", MEND, exchange)
    error = error_in(stream.events[places[0]])
    said = isinstance(error, dict) and bool(error.get("message")) and isinstance(error.get("message"), str)
    complete = said and isinstance(error, dict) and isinstance(error.get("type"), str) and "code" in error
    expect(complete, f"an error with message, type and code for {why}", repr(error), MEND, exchange)
    after = [event.data for event in stream.events[places[0] + 1 :]]
    expect(after in ([], ["[DONE]"]), expected, f"after it: {after}", MEND, exchange)


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
    "answer",
    [
        pytest.param(REFUSED, id="model server refuses the request"),
        pytest.param(Answer(status=401, message="bad key"), id="model server refuses the key"),
        pytest.param(Answer(text="", fault="bad_chunk"), id="model server says nothing but a broken chunk"),
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
) -> None:
    """It is a 502; or, where the stream had begun already, an error event in it."""
    script.answer("failure", answer, nonce=nonce("asked"))
    reply = client.send("ask", ask(agent.id, nonce("asked"), stream=True), key=key.name)
    expect_failed_stream(reply, "a turn that fails before its first content")
    expect_streams()


@pytest.mark.requirement("AE-STREAM-5")
def test_a_failure_after_content_is_an_error_event(
    client: Client,
    script: Script,
    nonce: Callable[[str], str],
    key: KeyFacts,
    agent: Agent,
    expect_streams: Callable[[], None],
) -> None:
    """The model breaks off in the middle: a stream that has begun tells so, one that has not is a 502."""
    half = Answer(text="This is only half of it", piece=4, pause=0.05, fault="bad_chunk")
    script.answer("half", half, nonce=nonce("asked"))
    reply = client.send("ask", ask(agent.id, nonce("asked"), stream=True), key=key.name)
    expect_failed_stream(reply, "a turn that fails after its first content")
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
