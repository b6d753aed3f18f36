"""What a stream carries beside text, how it ends, and how it fails."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from harness.actors import Client, Script
from harness.chat import Stream, ask, finish_reasons_of, stream_of
from harness.check import expect
from harness.exchange import Exchange
from harness.expectations import ending, expect_said, expect_stream, shown
from harness.fakes.model.replayed import assembled
from harness.fakes.model.script import Answer, Fault, ToolCall
from harness.model_calls import error_in, expect_answered, expect_failure, usage_of
from harness.target import Agent
from harness.target_keys import KeyFacts
from harness.telling import beginning

DONE = "[DONE]"
TOOLS = [
    {
        "type": "function",
        "function": {
            "name": name,
            "description": f"Does {name}.",
            "parameters": {"type": "object", "properties": {"path": {"type": "string"}}},
        },
    }
    for name in ("look_up", "write_down")
]
CALLS = (ToolCall("look_up", '{"path": "a \\"quoted\\" \\u00fc"}'), ToolCall("write_down", '{"path": ""}'))


@pytest.fixture
def streamed(
    client: Client, script: Script, nonce: Callable[[str], str], key: KeyFacts, agent: Agent
) -> Callable[..., tuple[Exchange, Stream]]:
    """Streams a word; of the model's own choice where no script decides what is said."""

    def ask_for(**fields: Any) -> tuple[Exchange, Stream]:
        scripted = script.reaches("model", "model")
        if scripted:
            said = Answer(text=f"Word by word: {nonce('said')}", piece=5)
            script.answer("answer", said, nonce=nonce("asked"))
        prompt = f"Write the word {nonce('said')} and nothing else. ({nonce('asked')})"
        exchange = client.send("stream", ask(agent.id, prompt, stream=True, **fields), key=key.name)
        stream = expect_stream(exchange, f"stream: true with {fields}")
        if scripted:
            expect_said(stream.text, nonce("said"), exchange)
        expect(bool(stream.choices), "chunks with choices", shown(exchange), "stream the answer", exchange)
        return exchange, stream

    return ask_for


@pytest.mark.requirement("MS-STREAM-1")
@pytest.mark.parametrize("fields", [{}, {"stream_options": {"include_usage": True}}], ids=["plain", "with usage"])
def test_done_is_the_last_that_is_said(
    streamed: Callable[..., tuple[Exchange, Stream]], fields: dict[str, Any]
) -> None:
    """Once, and nothing after it."""
    exchange, stream = streamed(**fields)
    places = [index for index, event in enumerate(stream.events) if event.data == DONE]
    last = places == [len(stream.events) - 1] and not stream.unfinished
    expect(last, "one `data: [DONE]`, the very last event", ending(exchange), "end with data: [DONE]", exchange)


@pytest.mark.requirement("MS-STREAM-1")
def test_usage_is_given_when_it_is_asked_for(streamed: Callable[..., tuple[Exchange, Stream]]) -> None:
    """In the last chunk, complete, and its sum right."""
    exchange, stream = streamed(stream_options={"include_usage": True})
    mend = "send usage in the last chunk when stream_options.include_usage is true"
    usage = usage_of(exchange)
    last = stream.chunks[-1].get("usage") if stream.chunks else None
    expect(isinstance(last, dict), "usage in the last chunk", ending(exchange), mend, exchange)
    parts = [usage.get(name) for name in ("prompt_tokens", "completion_tokens", "total_tokens")]
    counted = all(isinstance(part, int) and part > 0 for part in parts)
    expect(counted, "prompt, completion and total tokens", repr(usage), mend, exchange)
    right = usage["prompt_tokens"] + usage["completion_tokens"] == usage["total_tokens"]
    expect(right, "a total that is the sum of the others", repr(usage), mend, exchange)


@pytest.mark.requirement("MS-STREAM-1")
def test_tool_calls_come_in_deltas_that_can_be_put_together(asking: Callable[..., Exchange]) -> None:
    """Each delta has its call's index; id and name come once, arguments join to the whole."""
    answer = Answer(text="", tool_calls=CALLS, finish="tool_calls")
    whole = asking("whole", answer, tools=TOOLS)
    expect_answered(whole, "tool calls")
    expect_calls(whole.json()["choices"][0]["message"].get("tool_calls"), whole)
    exchange = asking("calls", answer, tools=TOOLS, stream=True)
    stream = expect_stream(exchange, "streamed tool calls")
    mend = "give each piece of a tool call the index of its call"
    deltas = [call for choice in stream.choices for call in (choice.get("delta") or {}).get("tool_calls") or ()]
    indexed = bool(deltas) and all(isinstance(delta.get("index"), int) for delta in deltas)
    expect(indexed, "an index in each piece of a tool call", beginning(repr(deltas), 500), mend, exchange)
    made = assembled(stream.chunks) or {}
    expect_calls(made["choices"][0]["message"].get("tool_calls"), exchange)
    ids = [delta["id"] for delta in deltas if delta.get("id")]
    expect(len(set(ids)) == len(CALLS), "an id of its own for each call", repr(ids), mend, exchange)
    reasons = finish_reasons_of(exchange)
    expect(reasons == ["tool_calls"], "finish reason 'tool_calls'", repr(reasons), "tell why it ended", exchange)


def expect_calls(came: Any, exchange: Exchange) -> None:
    """The calls are those of the model, with arguments that mean the same."""
    calls = [(call["function"]["name"], _parsed(call["function"]["arguments"])) for call in came or ()]
    wanted = [(call.name, json.loads(call.arguments)) for call in CALLS]
    expect(calls == wanted, f"the calls {wanted}", repr(came), "pass tool calls on as they are", exchange)


def _parsed(arguments: str) -> Any:
    try:
        return json.loads(arguments)
    except ValueError:
        return arguments


@pytest.fixture
def expect_streams(streamed: Callable[..., tuple[Exchange, Stream]]) -> Callable[[], None]:
    """Expects that an answer that goes well is streamed: who fails always fails in the right way."""

    def expect_it() -> None:
        exchange, _ = streamed()
        reasons = finish_reasons_of(exchange)
        expect(reasons == ["stop"], "finish reason 'stop'", repr(reasons), "tell why it ended", exchange)

    return expect_it


FAILURES = {"overloaded": Answer(status=503, message="overloaded"), "broken": Answer(status=500, message="broken")}


@pytest.mark.requirement("MS-STREAM-1")
@pytest.mark.parametrize("failure", FAILURES)
def test_a_failure_before_the_first_word_is_no_success(
    asking: Callable[..., Exchange], expect_streams: Callable[[], None], failure: str
) -> None:
    """It is an error status; or an error event, where the stream had begun."""
    reply = asking("failed", FAILURES[failure], stream=True)
    expect_failure(reply, "a model that fails before its first word")
    expect_streams()


@pytest.mark.requirement("MS-STREAM-1")
def test_a_failure_after_the_first_word_is_an_error_event(
    asking: Callable[..., Exchange], expect_streams: Callable[[], None], nonce: Callable[[str], str]
) -> None:
    """The stream tells it, and gives no reason why it ended well; who buffers may still answer with a status."""
    half = Answer(text=f"Half of it: {nonce('half')}", fault="error_chunk", message="overloaded")
    expect_failure(asking("failed", half, stream=True), "a model that fails after its first word")
    expect_streams()


@pytest.mark.requirement("MS-STREAM-1")
@pytest.mark.parametrize("fault", ["cut", "reset"])
def test_an_answer_that_breaks_off_is_no_whole_one(
    asking: Callable[..., Exchange], expect_streams: Callable[[], None], fault: Fault
) -> None:
    """The connection to the model ends in the middle: no stream ends as if all had been said."""
    reply = asking("broken off", Answer(text="Half of it", fault=fault), stream=True)
    if reply.status == 200 and reply.end == "complete":
        told = any(error_in(event) is not None for event in stream_of(reply).events)
        mend = "send an error event, or break off too"
        expect(told, "an error event, or a stream that breaks off", ending(reply), mend, reply)
    expect_streams()
