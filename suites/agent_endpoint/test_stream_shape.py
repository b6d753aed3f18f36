"""What a stream looks like on the wire."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from harness.actors import Client, Script
from harness.chat import Stream, ask
from harness.check import expect
from harness.exchange import Exchange
from harness.expectations import ending, expect_said, expect_stream
from harness.fakes.model.script import Answer, ToolCall
from harness.shapes import flaw
from harness.target import Agent
from harness.target_keys import KeyFacts
from harness.telling import beginning

DONE = "[DONE]"
WORDS = "\u00fcber \u4f60\u597d \U0001f600 "


@pytest.fixture
def answer(client: Client, script: Script, nonce: Callable[[str], str], key: KeyFacts, agent: Agent) -> Exchange:
    """A streamed answer in several pieces; of the target's own making where no stand-in is behind it."""
    scripted = script.reaches("model behind", "model")
    if scripted:
        script.answer("answer", Answer(text=WORDS + nonce("said"), pause=0.02), nonce=nonce("asked"))
    exchange = client.send("stream", ask(agent.id, nonce("asked"), stream=True), key=key.name)
    if scripted:
        expect_said(expect_stream(exchange, "stream: true").text, nonce("said"), exchange)
    return exchange


@pytest.fixture
def stream(answer: Exchange) -> Stream:
    """The answer read as a stream."""
    return expect_stream(answer, "stream: true")


@pytest.mark.requirement("AE-STREAM-3")
def test_a_stream_begins_without_a_byte_order_mark(answer: Exchange, stream: Stream) -> None:
    """A client that does not strip it loses the first event."""
    marked = answer.body.startswith(b"\xef\xbb\xbf")
    expect(
        not marked and bool(stream.events),
        "events and no byte order mark",
        beginning(answer.text, 60),
        "drop it",
        answer,
    )


@pytest.mark.requirement("AE-STREAM-3")
def test_every_event_but_the_last_is_a_valid_chunk(answer: Exchange, stream: Stream) -> None:
    """Each is a `chat.completion.chunk` of the API."""
    mend = "send chat.completion.chunk objects, `object` included"
    expect(len(stream.events) > 1, "at least one chunk and [DONE]", beginning(answer.text) or "nothing", mend, answer)
    expect_valid_chunks(answer, stream)


def expect_valid_chunks(answer: Exchange, stream: Stream) -> None:
    """Every event but the last is a chunk."""
    mend = "send chat.completion.chunk objects, `object` included"
    for event in stream.events[:-1]:
        wrong = flaw("chat_completion_chunk", event.json())
        expect(wrong is None, "valid chat.completion.chunk events", f"{wrong} in {beginning(event.data)}", mend, answer)


SHARED = ("id", "created", "model")


@pytest.mark.requirement("AE-STREAM-3")
@pytest.mark.parametrize("field", SHARED)
def test_all_chunks_share_their(answer: Exchange, stream: Stream, agent: Agent, field: str) -> None:
    """One completion has one id, one creation time, and the model that was asked for."""
    expect_shared(stream, agent, field)
    mend = f"make `{field}` once per completion"
    expect(bool(stream.chunks), "chunks", beginning(answer.text), mend, answer)


def expect_shared(stream: Stream, agent: Agent, field: str) -> None:
    """A field is the same in all chunks; the model is the agent."""
    values = {repr(chunk.get(field)) for chunk in stream.chunks}
    wanted = {repr(agent.id)} if field == "model" else values
    same = len(values) == 1 and values == wanted and values != {"None"}
    mend = f"make `{field}` once per completion"
    expect(same, f"one `{field}` in all chunks" + (f", {agent.id!r}" if field == "model" else ""), sorted(values), mend)


@pytest.mark.requirement("AE-STREAM-3")
def test_the_role_is_said_once(answer: Exchange, stream: Stream) -> None:
    """Stream helpers concatenate what they are given: `assistantassistant`."""
    expect_one_role(answer, stream)


def expect_one_role(answer: Exchange, stream: Stream) -> None:
    """One delta, of all choices', has the role."""
    deltas = [choice.get("delta") for choice in stream.choices]
    roles = [delta["role"] for delta in deltas if isinstance(delta, dict) and delta.get("role") is not None]
    expect(
        roles == ["assistant"], "the role `assistant` in exactly one delta", repr(roles), "say it first only", answer
    )


@pytest.mark.requirement("AE-STREAM-3")
def test_one_finish_reason_is_given(answer: Exchange, stream: Stream) -> None:
    """Without one, clients take a broken stream for a whole one; opencode asks again without end."""
    expect_one_finish(answer, stream)


def expect_one_finish(answer: Exchange, stream: Stream) -> None:
    """One chunk has a finish reason."""
    reasons = [choice["finish_reason"] for choice in stream.choices if choice.get("finish_reason") is not None]
    expect(len(reasons) == 1, "one finish reason", repr(reasons), "give it in the last chunk with choices", answer)


@pytest.mark.requirement("AE-STREAM-3")
def test_done_is_the_last_thing_said(answer: Exchange, stream: Stream) -> None:
    """One [DONE] ends the stream, and nothing comes after it."""
    expect_done_last(answer, stream)


def expect_done_last(answer: Exchange, stream: Stream) -> None:
    """The last event, and no other, is [DONE]."""
    dones = [index for index, event in enumerate(stream.events) if event.data == DONE]
    last = dones == [len(stream.events) - 1] and not stream.unfinished
    expect(last, "one `data: [DONE]`, the very last event", ending(answer), "end with data: [DONE]", answer)


CALL = ToolCall("todowrite", '{"todos":[]}')
SEVERAL_STEPS = (
    Answer(text="First I look. ", reasoning="How shall I begin?", tool_calls=(CALL,), finish="tool_calls"),
    Answer(text="", tool_calls=(ToolCall("todowrite", '{"todos": []}'),), finish="tool_calls"),
)


@pytest.mark.requirement("AE-STREAM-3")
def test_a_turn_of_several_steps_is_one_completion(
    client: Client, script: Script, nonce: Callable[[str], str], key: KeyFacts, agent: Agent
) -> None:
    """Each step is a message to opencode, with its own text, reasoning and end; to the client all are one answer."""
    last = Answer(text=nonce("said"), reasoning="That is it.")
    script.answer("steps", *SEVERAL_STEPS, last, nonce=nonce("asked"))
    answer = client.send("stream", ask(agent.id, nonce("asked"), stream=True), key=key.name)
    stream = expect_stream(answer, "a turn of several steps")
    expect_said(stream.text, nonce("said"), answer)
    expect_valid_chunks(answer, stream)
    for field in SHARED:
        expect_shared(stream, agent, field)
    expect_one_role(answer, stream)
    expect_one_finish(answer, stream)
    expect_done_last(answer, stream)
