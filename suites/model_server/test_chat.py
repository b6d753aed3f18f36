"""What a completion looks like, and that it says the same in one piece and in many."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from harness.actors import Client, Script
from harness.chat import ask, finish_reasons_of
from harness.check import expect
from harness.exchange import Exchange
from harness.expectations import expect_completion, expect_said, expect_stream, shown
from harness.fakes.model.script import Answer
from harness.shapes import flaw
from harness.target import Agent
from harness.target_keys import KeyFacts
from harness.telling import beginning

MEND = "answer as the API does"


@pytest.fixture
def say(
    client: Client, script: Script, nonce: Callable[[str], str], key: KeyFacts, agent: Agent
) -> Callable[..., Exchange]:
    """Asks for a word; of the model's own choice where no script decides what is said."""

    def ask_for(**fields: Any) -> Exchange:
        if script.reaches("model", "model"):
            script.answer("word", Answer(text=f"Here it is: {nonce('said')}"), nonce=nonce("asked"))
        prompt = f"Write the word {nonce('said')} and nothing else. ({nonce('asked')})"
        return client.send("ask", ask(agent.id, prompt, **fields), key=key.name)

    return ask_for


@pytest.fixture
def expect_word(script: Script, nonce: Callable[[str], str]) -> Callable[[str, Exchange], None]:
    """Expects the word in an answer, where a script decides what is said: who says nothing has no shape to show."""

    def expect_it(text: str, reply: Exchange) -> None:
        if script.reaches("the model of the word", "model"):
            expect_said(text, nonce("said"), reply)

    return expect_it


@pytest.mark.requirement("MS-CHAT-1")
@pytest.mark.parametrize("fields", [{}, {"stream": False}], ids=["stream left out", "stream false"])
def test_a_whole_completion_has_the_shape_of_the_api(
    say: Callable[..., Exchange], expect_word: Callable[[str, Exchange], None], fields: dict[str, Any]
) -> None:
    """One chat.completion, with a message and the reason why it ended."""
    reply = say(**fields)
    expect_word(expect_completion(reply, "a plain request"), reply)


@pytest.mark.requirement("MS-CHAT-1")
def test_every_chunk_of_a_stream_has_the_shape_of_the_api(
    say: Callable[..., Exchange], expect_word: Callable[[str, Exchange], None]
) -> None:
    """Chunks of one completion, of which one tells why it ended."""
    reply = say(stream=True)
    stream = expect_stream(reply, "stream: true")
    events = [event for event in stream.events if event.data != "[DONE]"]
    expect(bool(stream.choices), "chunks with choices", shown(reply), MEND, reply)
    for event in events:
        wrong = flaw("chat_completion_chunk", event.json())
        expect(wrong is None, "valid chat.completion.chunk events", f"{wrong} in {beginning(event.data)}", MEND, reply)
    reasons = finish_reasons_of(reply)
    expect(len(reasons) == 1, "one finish reason", repr(reasons), "give it in the last chunk with choices", reply)
    expect_word(stream.text, reply)


TEXTS: dict[str, Answer] = {
    "one piece": Answer(text="{said}", piece=500),
    "letter by letter": Answer(text="Letter by letter: {said}", piece=1),
    "white space": Answer(text="\n  two  spaces \t and\r\n\n lines {said}  \n", piece=4),
    "other scripts": Answer(text="na\u00efve \u65e5\u672c\u8a9e \U0001f9ea\u200d\U0001f52c a\u0301 {said}", piece=2),
    "line separators": Answer(text="a\u2028b\u0085c {said}", piece=3),
    "like an event": Answer(text='{said}\n\ndata: [DONE]\n\ndata: {"error": {}}\n\nend', piece=7),
    "like JSON": Answer(text='{"said": "{said}", "path": "C:\\\\x"}', piece=5),
}


@pytest.mark.requirement("MS-CHAT-1")
@pytest.mark.parametrize("answer", TEXTS.values(), ids=TEXTS.keys())
def test_a_stream_says_what_the_whole_completion_says(
    client: Client, script: Script, nonce: Callable[[str], str], key: KeyFacts, agent: Agent, answer: Answer
) -> None:
    """And both say what the model said, to the letter."""
    text = answer.text.replace("{said}", nonce("said"))
    script.answer("answer", Answer(text=text, piece=answer.piece), nonce=nonce("asked"))
    whole = client.send("whole", ask(agent.id, nonce("asked")), key=key.name)
    content = expect_completion(whole, "stream: false")
    expect_said(content, nonce("said"), whole)
    pieces = client.send("pieces", ask(agent.id, nonce("asked"), stream=True), key=key.name)
    joined = expect_stream(pieces, "stream: true").text
    expect(content == text, f"the content {text!r}", repr(content), "pass the text on as it is", whole)
    expect(joined == text, f"deltas that join to {text!r}", repr(joined), "pass the text on as it is", pieces)
