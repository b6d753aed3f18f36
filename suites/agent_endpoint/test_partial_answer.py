"""Part of an answer is not the answer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from harness.actors import Client, Script
from harness.chat import ask
from harness.check import expect
from harness.expectations import expect_refusal, shown
from harness.fakes.model.script import Answer
from harness.fixtures.opencode_events import failed, synchronous
from harness.tap_script import Inject, TapRule
from harness.target import Agent
from harness.target_keys import KeyFacts

MEND = "when the session fails, drop what was said so far and answer 502"

ERRORS: list[dict[str, Any]] = [
    {"name": "UnknownError", "data": {"message": "something broke"}},
    {"name": "APIError", "data": {"message": "boom", "statusCode": 500, "isRetryable": False}},
    {"name": "MessageAbortedError", "data": {"message": "Aborted"}},
    {"name": "MessageOutputLengthError", "data": {}},
]
HALF = "This is only half of"

FAILURES = [
    *(
        pytest.param(
            Answer(text=HALF, piece=len(HALF), fault="hang_after_text"),
            (Inject("message.part.delta", (failed(error),)), synchronous(HALF, error=error)),
            id=error["name"],
        )
        for error in ERRORS
    ),
    pytest.param(Answer(text=HALF, fault="bad_chunk"), (), id="a broken chunk of the model server"),
]


@pytest.mark.requirement("AE-FAULT-10")
@pytest.mark.parametrize(("answer", "tampering"), FAILURES)
def test_text_that_an_error_follows_is_not_the_answer(
    client: Client,
    script: Script,
    nonce: Callable[[str], str],
    key: KeyFacts,
    agent: Agent,
    expect_plain_turn: Callable[[str], None],
    answer: Answer,
    tampering: tuple[TapRule, ...],
) -> None:
    """The client would take it for the whole."""
    expect_plain_turn("before")
    script.answer("half", answer, nonce=nonce("asked"))
    script.tamper("error", *tampering)
    reply = client.send("ask", ask(agent.id, nonce("asked")), key=key.name)
    expect_refusal(reply, {502}, "part of an answer and then an error", MEND)
    expect(HALF not in reply.text, "no part of the answer in the refusal", shown(reply), MEND, reply)
