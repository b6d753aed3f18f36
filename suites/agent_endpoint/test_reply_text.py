"""What of a turn's text is the reply's."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

import pytest

from harness.actors import Client, JournalReader, Script
from harness.chat import ask
from harness.check import Inconclusive, NotMeasured, expect
from harness.exchange import Exchange
from harness.expectations import expect_answer, expect_completion, expect_refusal, expect_said, shown
from harness.fakes.model.script import Answer
from harness.fixtures.opencode_events import delta, opened_part, status, synchronous, text_part
from harness.tap_script import Inject, Split, TapRule
from harness.target import Agent
from harness.target_keys import KeyFacts
from harness.telling import beginning

JSON_AND_STREAM = pytest.mark.parametrize("stream", [False, True], ids=["json", "stream"])

OVER_WINDOW = Answer(
    status=400,
    message="This model's maximum context length is 8192 tokens. However, you requested 10000 tokens "
    "(9000 in the messages, 1000 in the completion). Please reduce the length of the messages or completion.",
)


@pytest.mark.requirement("AE-REPLY-3")
@JSON_AND_STREAM
@pytest.mark.parametrize(
    "thoughtful",
    [
        pytest.param(Answer(reasoning_field="reasoning_content"), id="reasoning_content"),
        pytest.param(Answer(reasoning_field="reasoning"), id="reasoning"),
    ],
)
def test_reasoning_is_not_content(
    client: Client,
    script: Script,
    nonce: Callable[[str], str],
    key: KeyFacts,
    agent: Agent,
    thoughtful: Answer,
    stream: bool,
) -> None:
    """Whatever field the model thinks aloud in: opencode sends it with deltas that say `text`, like the answer's."""
    answer = replace(thoughtful, text=nonce("said"), reasoning=f"Let me think: {nonce('thought')}")
    script.answer("thoughtful", answer, nonce=nonce("asked"))
    reply = client.send("ask", ask(agent.id, nonce("asked"), stream=stream), key=key.name)
    text = expect_answer(reply, "a turn with reasoning")
    expect_said(text, nonce("said"), reply)
    mend = "take only parts of type `text`, looked up by their id: deltas of reasoning carry the field `text` too"
    leaked = nonce("thought") in text or "think" in text
    expect(not leaked, "no reasoning in the content", beginning(text), mend, reply)


@pytest.mark.requirement("AE-REPLY-3")
@JSON_AND_STREAM
def test_reasoning_does_not_stand_in_for_text(
    client: Client,
    script: Script,
    nonce: Callable[[str], str],
    key: KeyFacts,
    agent: Agent,
    expect_plain_turn: Callable[[str], None],
    stream: bool,
) -> None:
    """A model that only thinks has said nothing."""
    script.answer("thoughts alone", Answer(text="", reasoning=f"Let me see: {nonce('thought')}"), nonce=nonce("asked"))
    reply = client.send("ask", ask(agent.id, nonce("asked"), stream=stream), key=key.name)
    text = expect_answer(reply, "a turn with reasoning and no text")
    mend = "leave the content empty where there is no text: reasoning is none"
    expect(text == "", "empty content", beginning(text), mend, reply)
    expect_plain_turn("with text")


def reads_messages(exchange: Exchange) -> bool:
    """Whether a request to opencode asks for a session's messages, or one of them."""
    return exchange.request.method == "GET" and re.match("/session/[^/]+/message", exchange.request.path) is not None


@pytest.mark.requirement("AE-REPLY-5")
def test_an_answer_in_two_texts_is_whole(
    client: Client,
    script: Script,
    journal: JournalReader,
    nonce: Callable[[str], str],
    key: KeyFacts,
    agent: Agent,
) -> None:
    """A message may hold its text in several parts; both the events and the synchronous route's answer tell them."""
    words = (nonce("first"), nonce("second"))
    script.answer("second", Answer(text=words[1]), nonce=nonce("asked"))
    first = Inject("message.part.updated", (text_part(words[0]),), where={"part.type": "step-start"})
    script.tamper("first", first, synchronous(*words, finish="stop"))
    reply = client.send("ask", ask(agent.id, nonce("asked")), key=key.name)
    content = expect_completion(reply, "a message with two texts")
    lost = [word for word in words if word not in content]
    if lost and any(reads_messages(exchange) for exchange in journal.read("how it is read", "opencode")):
        raise NotMeasured("the target reads messages by a route that does not tell the text that was put in")
    expect(not lost, "the text of both parts", shown(reply), "join the texts of all parts of the message", reply)


SLOWLY = 0.2
"""Seconds between pieces: opencode writes an event's message as it is when the event is sent, so that after a quick
answer an early event may call the message finished, which a retried one never is."""


@pytest.mark.requirement("AE-REPLY-4")
@pytest.mark.parametrize("attempts", [1, 2], ids=["one attempt", "two attempts"])
def test_text_of_an_abandoned_attempt_is_not_content(
    client: Client, script: Script, nonce: Callable[[str], str], key: KeyFacts, agent: Agent, attempts: int
) -> None:
    """A retry leaves the deltas of what was said before it in a part of their own, whose text is empty in the end."""
    events = tuple(
        event
        for number in range(attempts)
        for event in (
            opened_part(part=f"prt_turnproof{number}"),
            delta(f"{nonce('abandoned')} ", part=f"prt_turnproof{number}"),
            status("retry", attempt=number + 1, message="overloaded", next=1),
            status("busy"),
        )
    )
    script.tamper("abandoned", Inject("message.part.updated", events, where={"part.type": "step-start"}))
    slow = Answer(text=nonce("said"), pause=SLOWLY)
    script.answer("answer", slow, nonce=nonce("asked"))
    reply = client.send("ask", ask(agent.id, nonce("asked")), key=key.name)
    content = expect_completion(reply, "a turn whose first attempt was abandoned")
    expect_said(content, nonce("said"), reply)
    mend = "at a retry, drop the text of the attempt so far"
    expect(nonce("abandoned") not in content, "no text of an abandoned attempt", shown(reply), mend, reply)


SEPARATORS = "one\u0085two\u2028three\u2029four"
CHARACTERS = "\u00fcber \u4f60\u597d, \U0001f600 \u0416\u0434\u0438\u20ac"


@pytest.mark.requirement("AE-REPLY-7")
@JSON_AND_STREAM
@pytest.mark.parametrize(
    ("text", "tampering"),
    [
        pytest.param(SEPARATORS, (), id="line separators"),
        pytest.param(CHARACTERS, (Split(0.002),), id="cut characters"),
    ],
)
def test_text_arrives_whole(
    client: Client,
    script: Script,
    journal: JournalReader,
    nonce: Callable[[str], str],
    key: KeyFacts,
    agent: Agent,
    text: str,
    tampering: tuple[TapRule, ...],
    stream: bool,
) -> None:
    """Only LF, CR and CRLF end a line of events; and a packet may end anywhere."""
    said = f"{text} {nonce('said')}"
    script.answer("answer", Answer(text=said, piece=len(said)), nonce=nonce("asked"))
    script.tamper("packets", *tampering)
    reply = client.send("ask", ask(agent.id, nonce("asked"), stream=stream), key=key.name)
    if tampering and not any(exchange.fault for exchange in journal.read("tampered", "opencode")):
        raise Inconclusive("no answer of opencode's held a character of several bytes")
    came = expect_answer(reply, "text with unusual characters")
    mend = "read events as bytes, split lines at LF, CR and CRLF only, and decode whole lines"
    expect(came == said, f"the model's text, {said!r}", ascii(came[:300]), mend, reply)


@pytest.mark.requirement("AE-REPLY-7")
def test_a_megabyte_in_one_event_arrives_whole(
    client: Client, script: Script, nonce: Callable[[str], str], key: KeyFacts, agent: Agent
) -> None:
    """Readers with a limit on the length of a line, 64 KiB in common ones, lose it."""
    size = 2**20
    said = nonce("begin") + "x" * size + nonce("end")
    script.answer("long", Answer(text=said, piece=len(said)), nonce=nonce("asked"))
    reply = client.send("ask", ask(agent.id, nonce("asked")), key=key.name)
    came = expect_completion(reply, "a megabyte of text")
    shortened = f"{len(came)} characters, from {came[:30]!r} to {came[-30:]!r}"
    expect(came == said, f"all {len(said)} characters", shortened, "read lines of any length", reply)


@pytest.mark.requirement("AE-REPLY-11")
@JSON_AND_STREAM
def test_a_compaction_summary_is_not_the_answer(
    client: Client,
    script: Script,
    nonce: Callable[[str], str],
    key: KeyFacts,
    agent: Agent,
    expect_plain_turn: Callable[[str], None],
    stream: bool,
) -> None:
    """When the conversation is too long, opencode has it summarised and goes on; the summary is no reply."""
    expect_plain_turn("before")
    steps = (OVER_WINDOW, Answer(text=nonce("said")))
    script.answer("overflow, then answer", *steps, summary=Answer(text=nonce("summary")))
    reply = client.send("ask", ask(agent.id, nonce("asked"), stream=stream), key=key.name)
    mend = "leave messages of a compaction out (mode `compaction`, `summary` true)"
    expect(nonce("summary") not in reply.text, "no compaction summary in the answer", shown(reply), mend, reply)
    if reply.status == 502:
        expect_refusal(reply, {502}, "a context overflow", mend)
    else:
        expect_said(expect_answer(reply, "a recovered overflow"), nonce("said"), reply)
