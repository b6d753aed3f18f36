"""What counts as the turn's final reply."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from harness.actors import Client, Script
from harness.chat import ask, finish_reasons_of
from harness.check import expect
from harness.exchange import Exchange
from harness.expectations import expect_answer, expect_completion, expect_said, shown
from harness.failed_turns import expect_failed
from harness.fakes.model.script import Answer, ToolCall
from harness.fixtures.opencode_events import idle, synchronous, text_part
from harness.tap_script import Inject, TapRule
from harness.target import Agent
from harness.target_keys import KeyFacts

MEND_EMPTY = "take a completed assistant message for the reply, whether or not it has text"
MEND_IDLE = "at idle, look whether the last assistant message has a final finish reason; if not, answer 502"

JSON_AND_STREAM = pytest.mark.parametrize("stream", [False, True], ids=["json", "stream"])

NULL_TEXT: tuple[TapRule, ...] = (
    Inject("message.part.updated", (text_part(None),), where={"part.type": "step-start"}),
    synchronous(None, finish="stop"),
)


@pytest.mark.requirement("AE-REPLY-1")
@JSON_AND_STREAM
@pytest.mark.parametrize(
    ("finish", "tampering"),
    [
        pytest.param("stop", (), id="stop without text"),
        pytest.param("length", (), id="length without text"),
        pytest.param("stop", NULL_TEXT, id="null text"),
    ],
)
def test_a_completed_message_without_text_is_an_empty_reply(
    client: Client,
    script: Script,
    nonce: Callable[[str], str],
    key: KeyFacts,
    agent: Agent,
    expect_plain_turn: Callable[[str], None],
    finish: str,
    tampering: tuple[TapRule, ...],
    stream: bool,
) -> None:
    """It is 200 with empty content and the finish reason, not a failure; and a reply with text keeps its text.

    Whether a stream was asked for and JSON came is another requirement's.
    """
    script.answer("empty", Answer(text="", finish=finish), nonce=nonce("asked"))
    script.tamper("null text", *tampering)
    reply = client.send("ask", ask(agent.id, nonce("asked"), stream=stream), key=key.name)
    expect_either = expect_completion if reply.content_type == "application/json" else expect_answer
    text = expect_either(reply, "a completed message without text")
    expect(text == "", "empty content", repr(text), MEND_EMPTY, reply)
    reasons = finish_reasons_of(reply)
    expect(reasons == [finish], f"finish reason {finish!r}", repr(reasons), "pass the finish reason on", reply)
    script.desist("nothing more")
    expect_plain_turn("with text")


CALL = ToolCall("todowrite", '{"todos":[]}')
EARLY = "Let me look at it first."

NOT_FINAL = [
    pytest.param(
        (Answer(fault="hang"),),
        (Inject("session.status", idle(), status="busy"), synchronous()),
        id="idle alone",
    ),
    pytest.param(
        (Answer(text=EARLY, fault="hang_after_text"),),
        (Inject("message.part.delta", idle()), synchronous(EARLY)),
        id="idle after text without a finish",
    ),
    pytest.param(
        (Answer(text=EARLY, tool_calls=(CALL,), finish="tool_calls"), Answer(fault="hang")),
        (
            Inject("message.updated", idle(), where={"info.finish": "tool-calls"}),
            synchronous(EARLY, finish="tool-calls"),
        ),
        id="idle after a tool step",
    ),
]


@pytest.mark.requirement("AE-REPLY-2")
@pytest.mark.parametrize(("steps", "tampering"), NOT_FINAL)
def test_idle_without_a_final_message_is_a_failure(
    both_ways: Callable[..., tuple[Exchange, Exchange]],
    expect_plain_turn: Callable[[str], None],
    steps: tuple[Answer, ...],
    tampering: tuple[TapRule, ...],
) -> None:
    """The session comes to rest, but its last message is not completed: that is no answer, whatever text there is."""
    expect_plain_turn("before")
    for reply in both_ways(*steps, tampering=tampering):
        expect_failed(reply, "a turn without a final assistant message", MEND_IDLE)


@pytest.mark.requirement("AE-REPLY-5")
def test_the_answer_after_tool_steps_is_the_last_text(
    client: Client, script: Script, nonce: Callable[[str], str], key: KeyFacts, agent: Agent
) -> None:
    """What the agent says between its tool calls is not the answer."""
    second = ToolCall("todowrite", '{"todos":[]}')
    script.answer(
        "three steps",
        Answer(text=nonce("first"), tool_calls=(CALL,), finish="tool_calls"),
        Answer(text=nonce("second"), tool_calls=(second,), finish="tool_calls"),
        Answer(text=nonce("last")),
        nonce=nonce("asked"),
    )
    reply = client.send("ask", ask(agent.id, nonce("asked")), key=key.name)
    content = expect_completion(reply, "a turn with tool steps")
    expect_said(content, nonce("last"), reply)
    mend = "answer with the text of the last assistant message only"
    earlier = [word for word in (nonce("first"), nonce("second")) if word in content]
    expect(not earlier, "no text of earlier steps in the answer", shown(reply), mend, reply)


@pytest.mark.requirement("AE-REPLY-5")
def test_an_answer_without_text_borrows_none_from_earlier_steps(
    client: Client,
    script: Script,
    nonce: Callable[[str], str],
    key: KeyFacts,
    agent: Agent,
    expect_plain_turn: Callable[[str], None],
) -> None:
    """What was said before a tool call is not the answer because nothing was said after it."""
    steps = (Answer(text=nonce("first"), tool_calls=(CALL,), finish="tool_calls"), Answer(text=""))
    script.answer("nothing to say", *steps, nonce=nonce("asked"))
    reply = client.send("ask", ask(agent.id, nonce("asked")), key=key.name)
    content = expect_completion(reply, "a turn whose last message has no text")
    mend = "answer with the text of the last assistant message, also when it is empty"
    expect(content == "", "empty content", repr(content), mend, reply)
    expect_plain_turn("with text")
