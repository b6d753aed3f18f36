"""Part of an answer is not the answer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from harness.check import expect
from harness.exchange import Exchange
from harness.expectations import expect_refusal, shown
from harness.failed_turns import expect_failed_stream
from harness.fakes.model.script import Answer
from harness.fixtures.opencode_events import failed, synchronous
from harness.tap_script import Inject, TapRule

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
    both_ways: Callable[..., tuple[Exchange, Exchange]],
    expect_plain_turn: Callable[[str], None],
    answer: Answer,
    tampering: tuple[TapRule, ...],
) -> None:
    """The client would take it for the whole, also where it is streamed."""
    expect_plain_turn("before")
    reply, streamed = both_ways(answer, tampering=tampering)
    expect_refusal(reply, {502}, "part of an answer and then an error", MEND)
    expect(HALF not in reply.text, "no part of the answer in the refusal", shown(reply), MEND, reply)
    expect_failed_stream(streamed, "part of an answer and then an error")
