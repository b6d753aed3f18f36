from __future__ import annotations

import json
from typing import Any

import pytest

from harness.check import Nonconformance
from harness.exchange import Exchange, Request
from harness.failed_turns import expect_failed, expect_failed_stream, expect_whole_or_failed
from tests.sample_results import exchange

ERROR = {"error": {"message": "no", "type": "server_error", "code": "agent_error"}}


def word(text: str, finish: str | None = None) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": {"content": text}, "finish_reason": finish}]}


def stream(*events: object, asked: bool = True) -> Exchange:
    data = [f"data: {each if isinstance(each, str) else json.dumps(each)}\n\n".encode() for each in events]
    return answer(200, b"".join(data), "text/event-stream", asked)


def answer(status: int, body: bytes, media: str = "application/json", asked: bool = True) -> Exchange:
    request = Request("POST", "/v1/chat/completions", (), json.dumps({"stream": asked}).encode())
    return exchange(
        7, request=request, chunks=[body], status=status, headers=(("content-type", media),), end="complete"
    )


REFUSED, LATE = answer(502, json.dumps(ERROR).encode()), answer(504, json.dumps(ERROR).encode())


@pytest.mark.parametrize("told", [REFUSED, stream(ERROR), stream(word("half"), ERROR), stream(ERROR, "[DONE]")])
def test_failure_of_a_stream_is_a_refusal_or_an_error_event(told: Exchange) -> None:
    expect_failed_stream(told, "x")
    expect_failed(told, "x", "mend")
    expect_whole_or_failed(told, "half and half", "x")


@pytest.mark.parametrize(
    "told",
    [
        LATE,
        stream(word("half", "stop"), "[DONE]"),
        stream({"error": {}}),
        stream({"error": {"message": "no"}}),
        stream(ERROR, ERROR),
        stream(ERROR, word("more")),
        stream(word("half", "error"), "[DONE]"),
    ],
)
def test_what_clients_take_for_a_success_is_no_failure(told: Exchange) -> None:
    with pytest.raises(Nonconformance):
        expect_failed(told, "x", "mend")
    with pytest.raises(Nonconformance):
        expect_whole_or_failed(told, "half and half", "x")


def test_late_failure_may_have_another_status() -> None:
    expect_failed(LATE, "x", "mend", {502, 504})


def test_stream_that_was_not_asked_for_is_no_refusal() -> None:
    with pytest.raises(Nonconformance):
        expect_failed(stream(ERROR, asked=False), "x", "mend")


def test_whole_answer_is_no_failure() -> None:
    expect_whole_or_failed(stream(word("the "), word("whole", "stop"), "[DONE]"), "the whole", "x")
