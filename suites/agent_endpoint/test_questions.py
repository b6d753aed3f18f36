"""Nobody is there to be asked."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from harness.actors import Client, Script
from harness.chat import ask
from harness.check import expect
from harness.exchange import Exchange
from harness.expectations import expect_completion, expect_refusal, expect_said, shown
from harness.fakes.model.script import Answer, ToolCall
from harness.fixtures.opencode_events import Event, event
from harness.tap_script import Inject
from harness.target import Agent, Facts
from harness.target_keys import KeyFacts

SLACK = 3.0
"""Seconds beyond the declared deadline in which the answer may still arrive."""

MEND = "reject what the agent asks, and keep the turn's deadline whatever it waits for"

QUESTIONS = {
    "permission": event(
        "permission.asked",
        id="per_turnproof",
        permission="external_directory",
        patterns=["/etc/*"],
        metadata={},
        always=["/etc/*"],
    ),
    "question": event(
        "question.asked",
        id="que_turnproof",
        questions=[{"question": "Which one?", "header": "Choice", "options": [{"label": "A", "description": "a"}]}],
    ),
}


def expect_in_time(reply: Exchange, target: Facts) -> None:
    """An answer within the deadline."""
    late = reply.end != "complete" or reply.duration is None or reply.duration > target.deadline + SLACK
    limit = f"an answer within {target.deadline:g} s (the declared deadline, and {SLACK:g} s for the way)"
    expect(not late, limit, f"{shown(reply)} after {reply.duration or 0:.1f} s", MEND, reply)


@pytest.mark.waits
@pytest.mark.requirement("AE-FAULT-7")
@pytest.mark.parametrize("question", QUESTIONS.values(), ids=QUESTIONS.keys())
def test_a_question_does_not_outlast_the_deadline(
    client: Client,
    script: Script,
    nonce: Callable[[str], str],
    target: Facts,
    key: KeyFacts,
    agent: Agent,
    expect_plain_turn: Callable[[str], None],
    question: Event,
) -> None:
    """A turn that asks and then says nothing more is given up like any other."""
    expect_plain_turn("before")
    script.answer("hang", Answer(fault="hang"), nonce=nonce("asked"))
    script.tamper("question", Inject("session.status", (question,), status="busy"))
    reply = client.send("ask", ask(agent.id, nonce("asked")), key=key.name)
    expect_in_time(reply, target)
    expect_refusal(reply, {502, 504}, "a turn that asks and waits", MEND)


@pytest.mark.requirement("AE-FAULT-7")
def test_a_tool_that_needs_a_permission_does_not_hang_the_turn(
    client: Client,
    script: Script,
    nonce: Callable[[str], str],
    target: Facts,
    key: KeyFacts,
    agent: Agent,
    expect_plain_turn: Callable[[str], None],
) -> None:
    """opencode asks before it reads outside its folder; the turn goes on without, or fails."""
    expect_plain_turn("before")
    read = ToolCall("read", '{"filePath":"/etc/hostname"}')
    steps = (Answer(text="", tool_calls=(read,), finish="tool_calls"), Answer(text=nonce("said")))
    script.answer("reads outside", *steps, nonce=nonce("asked"))
    reply = client.send("ask", ask(agent.id, nonce("asked")), key=key.name)
    expect_in_time(reply, target)
    if reply.status == 200:
        expect_said(expect_completion(reply, "a turn with a refused tool"), nonce("said"), reply)
    else:
        expect_refusal(reply, {502, 504}, "a turn that asks and waits", MEND)
