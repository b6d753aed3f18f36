"""Which kind of answer a request gets, and what a stream says of a turn that goes well."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from harness.actors import Client, JournalReader, Script
from harness.chat import Stream, ask, stream_of
from harness.check import Inconclusive, expect
from harness.exchange import Exchange, Request
from harness.expectations import ending, expect_completion, expect_said, expect_stream, shown
from harness.fakes.model.script import Answer
from harness.shapes import flaw
from harness.target import Agent, Facts
from harness.target_keys import KeyFacts

DONE = "[DONE]"

FLAGS: dict[str, dict[str, Any]] = {"absent": {}, "null": {"stream": None}, "false": {"stream": False}}


@pytest.mark.requirement("AE-STREAM-2")
@pytest.mark.parametrize("flag", FLAGS.values(), ids=FLAGS.keys())
def test_without_the_flag_the_answer_is_one_json_object(
    client: Client,
    script: Script,
    nonce: Callable[[str], str],
    key: KeyFacts,
    agent: Agent,
    flag: dict[str, Any],
) -> None:
    """A flag that is absent, null or false asks for a completion, with nothing of a stream about it."""
    scripted = script.reaches("model behind", "model")
    if scripted:
        script.answer("answer", Answer(text=nonce("said")), nonce=nonce("asked"))
    reply = client.send("ask", ask(agent.id, nonce("asked"), **flag), key=key.name)
    content = expect_completion(reply, f"the body's {flag}")
    if scripted:
        expect_said(content, nonce("said"), reply)


TEXTS: dict[str, Answer] = {
    "many pieces": Answer(text="One after another, word by word. {said}", piece=1, pause=0.002),
    "one piece": Answer(text="{said}", piece=1000),
    "white space inside": Answer(text="  first\n\n\tsecond  {said} \r\n third", piece=3, pause=0.01),
    "white space around": Answer(text="\n {said} \n\n", piece=5, pause=0.01),
    "many scripts": Answer(
        text="\u00fcber \u4f60\u597d \U0001f600\u200d\U0001f680 e\u0301 {said}", piece=2, pause=0.01
    ),
    "after reasoning": Answer(text="{said} it is", reasoning="Let me think first.", piece=4, pause=0.01),
    "looks like a stream": Answer(text='{said}\n\ndata: [DONE]\n\ndata: {"error": 1}\n\n.', piece=6),
}


@pytest.mark.requirement("AE-STREAM-4")
@pytest.mark.parametrize("answer", TEXTS.values(), ids=TEXTS.keys())
def test_a_stream_says_what_the_json_answer_says(
    client: Client, script: Script, nonce: Callable[[str], str], key: KeyFacts, agent: Agent, answer: Answer
) -> None:
    """The joined deltas are the content, to the letter."""
    said = Answer(**{**vars(answer), "text": answer.text.replace("{said}", nonce("said"))})
    script.answer("answer", said, nonce=nonce("asked"))
    whole = client.send("json", ask(agent.id, nonce("asked")), key=key.name)
    content = expect_completion(whole, "stream: false")
    expect_said(content, nonce("said"), whole)
    pieces = client.send("stream", ask(agent.id, nonce("asked"), stream=True), key=key.name)
    joined = expect_stream(pieces, "stream: true").text
    mend = "send as deltas exactly the text that the JSON answer would hold"
    expect(joined == content, f"deltas that join to {content!r}", repr(joined), mend, pieces)


@pytest.fixture
def stream_with(
    client: Client, script: Script, nonce: Callable[[str], str], key: KeyFacts, agent: Agent
) -> Callable[..., tuple[Exchange, Stream]]:
    """Streams an answer to a request with these additional fields; the exchange and the stream that it holds."""

    def ask_for(**fields: Any) -> tuple[Exchange, Stream]:
        scripted = script.reaches("model behind", "model")
        if scripted:
            script.answer("answer", Answer(text=f"Here: {nonce('said')}", piece=6), nonce=nonce("asked"))
        exchange = client.send("stream", ask(agent.id, nonce("asked"), stream=True, **fields), key=key.name)
        stream = expect_stream(exchange, f"stream: true with {fields}")
        if scripted:
            expect_said(stream.text, nonce("said"), exchange)
        expect(bool(stream.choices), "chunks with choices", shown(exchange), "stream the answer", exchange)
        return exchange, stream

    return ask_for


@pytest.mark.requirement("AE-STREAM-6")
def test_usage_that_was_asked_for_is_the_last_chunk(stream_with: Callable[..., tuple[Exchange, Stream]]) -> None:
    """One chunk without choices holds it, right before [DONE]."""
    exchange, stream = stream_with(stream_options={"include_usage": True})
    expected = "one chunk with `choices: []` and the usage, right before [DONE]"
    mend = "send the usage in a chunk of its own when stream_options.include_usage is true"
    bare = [chunk for chunk in stream.chunks if chunk.get("choices") == []]
    last = stream.events[-2:]
    placed = len(bare) == 1 and len(last) == 2 and last[0].json() == bare[0] and last[1].data == DONE
    expect(placed, expected, ending(exchange), mend, exchange)
    wrong = flaw("chat_completion_chunk", bare[0])
    held = wrong is None and isinstance(bare[0].get("usage"), dict)
    expect(held, expected, f"{wrong or 'no usage'} in {bare[0]}", mend, exchange)


@pytest.mark.requirement("AE-STREAM-10")
@pytest.mark.parametrize(
    "fields",
    [
        pytest.param({}, id="no options"),
        pytest.param({"stream_options": None}, id="null options"),
        pytest.param({"stream_options": {}}, id="empty options"),
        pytest.param({"stream_options": {"include_usage": False}}, id="usage not wanted"),
    ],
)
def test_every_chunk_has_a_choice_unless_usage_was_asked_for(
    stream_with: Callable[..., tuple[Exchange, Stream]], fields: dict[str, Any]
) -> None:
    """Clients read `choices[0]` of what they did not ask to be otherwise."""
    exchange, stream = stream_with(**fields)
    without = [chunk for chunk in stream.chunks if not chunk.get("choices")]
    mend = "send no chunk without choices unless stream_options.include_usage is true"
    expect(not without, "choices in every chunk", f"{len(without)} without, as {without[:1]}", mend, exchange)


@pytest.mark.requirement("AE-STREAM-7")
def test_content_arrives_while_the_model_still_speaks(
    client: Client,
    script: Script,
    journal: JournalReader,
    nonce: Callable[[str], str],
    target: Facts,
    key: KeyFacts,
    agent: Agent,
) -> None:
    """The model says a word and waits for the check; the word is at the client before the model goes on."""
    first, rest = f"{nonce('first')} ", nonce("rest")
    held = Answer(text=first + rest, piece=len(first), gate=nonce("gate"))
    script.answer("held answer", held, nonce=nonce("asked"))
    call = client.begin("stream", ask(agent.id, nonce("asked"), stream=True), key=key.name)

    def first_is_here(seen: tuple[Exchange, ...]) -> bool:
        return any(nonce("first") in stream_of(exchange).text for exchange in seen)

    early = journal.wait("first word", "client", first_is_here, target.deadline / 2)
    script.open("let go", nonce("gate"))
    exchange = call.result()
    mend = "pass each delta on when it comes"
    expect(first_is_here(early), "the first word while the model waits", "nothing of it by then", mend, exchange)
    expect_said(expect_stream(exchange, "a held answer").text, rest, exchange)


ACCEPTED: dict[str, str] = {
    "json": "application/json",
    "event stream": "text/event-stream",
    "html": "text/html",
    "anything": "*/*",
    "preferring json": "text/event-stream;q=0.1, application/json",
}


def accepting(request: Request, accept: str) -> Request:
    """`request` with this `Accept` header."""
    return Request(request.method, request.target, (*request.headers, ("accept", accept)), request.body)


@pytest.mark.requirement("AE-STREAM-11")
@pytest.mark.parametrize("accept", ACCEPTED.values(), ids=ACCEPTED.keys())
@pytest.mark.parametrize("stream", [False, True], ids=["json", "stream"])
def test_the_accept_header_decides_nothing(
    client: Client,
    script: Script,
    nonce: Callable[[str], str],
    key: KeyFacts,
    agent: Agent,
    stream: bool,
    accept: str,
) -> None:
    """The body's flag alone says which answer it is: the official client accepts JSON when it streams."""
    scripted = script.reaches("model behind", "model")
    if scripted:
        script.answer("answer", Answer(text=nonce("said")), nonce=nonce("asked"))
    request = accepting(ask(agent.id, nonce("asked"), stream=stream), accept)
    reply = client.send("ask", request, key=key.name)
    why = f"stream: {str(stream).lower()} and Accept: {accept}"
    text = expect_stream(reply, why).text if stream else expect_completion(reply, why)
    if scripted:
        expect_said(text, nonce("said"), reply)


UNLIKELY: dict[str, Answer] = {
    "no text": Answer(text="", finish="length"),
    "no text but reasoning": Answer(text="", reasoning="I have nothing to say."),
    "a refused model call": Answer(status=400, message="no such parameter"),
    "a broken model answer": Answer(text="half of it", fault="bad_chunk"),
}


@pytest.mark.requirement("AE-STREAM-8")
@pytest.mark.parametrize("answer", UNLIKELY.values(), ids=UNLIKELY.keys())
def test_a_stream_is_never_answered_with_another_success(
    client: Client, script: Script, nonce: Callable[[str], str], key: KeyFacts, agent: Agent, answer: Answer
) -> None:
    """Whatever becomes of the turn, a 2xx to `stream: true` is an event stream: clients read no other."""
    script.answer("unlikely", answer, nonce=nonce("unlikely"))
    reply = client.send("ask", ask(agent.id, nonce("unlikely"), stream=True), key=key.name)
    if reply.status is None:
        raise Inconclusive(f"there is no answer: {shown(reply)}")
    success = 200 <= reply.status < 300
    mend = "answer stream: true with an event stream, or with a status that is no success"
    expected = "text/event-stream, or no success, for stream: true"
    expect(not success or reply.content_type == "text/event-stream", expected, shown(reply), mend, reply)
    script.answer("likely", Answer(text=nonce("said")), nonce=nonce("likely"))
    good = client.send("ask again", ask(agent.id, nonce("likely"), stream=True), key=key.name)
    expect_said(expect_stream(good, "stream: true").text, nonce("said"), good)
