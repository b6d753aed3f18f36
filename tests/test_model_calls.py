from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from harness.chat import ask
from harness.check import Inconclusive, Nonconformance
from harness.exchange import Chunk, Exchange
from harness.model_calls import (
    expect_answered,
    expect_context_refusal,
    expect_empty_length,
    expect_failure,
    expect_served,
    prompt_tokens,
    usage_of,
)
from harness.sse import encode

DONE = b"data: [DONE]\n\n"
ERROR = {"error": {"message": "down", "type": None, "code": "500"}}


def reply(body: Any, status: int = 200) -> Exchange:
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    headers = (("content-type", "application/json"),)
    return Exchange(1, "client", ask("m", "x"), 0.0, None, status, headers, (Chunk(0, data),), "complete")


def stream(*events: Any, end: bytes = DONE) -> Exchange:
    data = b"".join(encode(event) for event in events) + end
    headers = (("content-type", "text/event-stream"),)
    return Exchange(1, "client", ask("m", "x", stream=True), 0.0, None, 200, headers, (Chunk(0, data),), "complete")


def completion(content: Any = "hi", finish: str = "stop", **more: Any) -> dict[str, Any]:
    message = {"role": "assistant", "content": content}
    return {"choices": [{"index": 0, "message": message, "finish_reason": finish}], **more}


def delta(finish: str | None = None, **fields: Any) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": fields, "finish_reason": finish}]}


EMPTY = completion(None, "length")
REFUSED = {"error": {"message": "maximum context length is 5", "type": "x", "code": None}}

GOOD: dict[str, tuple[Callable[..., object], Exchange]] = {
    "whole": (expect_answered, reply(completion())),
    "streamed": (expect_answered, stream(delta(content="hi"))),
    "served": (expect_served, reply(completion())),
    "served with reasoning alone": (expect_served, stream(delta(reasoning="hm"))),
    "refused": (expect_context_refusal, reply(REFUSED, 400)),
    "refused flat": (expect_context_refusal, reply({"object": "error", "message": "context length"}, 400)),
    "empty": (expect_empty_length, reply(EMPTY)),
    "empty stream": (expect_empty_length, stream(delta(role="assistant"), delta("length"))),
    "failed by status": (expect_failure, reply(b"Internal Server Error", 500)),
    "failed by event": (expect_failure, stream(delta(content="hi"), ERROR)),
    "failed by event without end": (expect_failure, stream(ERROR, end=b"")),
}

BAD: dict[str, tuple[Callable[..., object], Exchange]] = {
    "nothing": (expect_answered, reply(b"")),
    "another status": (expect_answered, reply(completion(), 201)),
    "an error as success": (expect_answered, reply(REFUSED)),
    "json for a stream": (expect_answered, Exchange(**{**vars(stream()), "headers": ()})),
    "served nothing": (expect_served, reply(completion(""))),
    "refused otherwise": (expect_context_refusal, reply(REFUSED, 422)),
    "refused without a reason": (expect_context_refusal, reply({"error": {"message": "no"}}, 400)),
    "the code alone names it": (
        expect_context_refusal,
        reply({"error": {"message": "no", "code": "context_length_exceeded"}}, 400),
    ),
    "empty with stop": (expect_empty_length, reply(completion(None))),
    "length with text": (expect_empty_length, reply(completion("hi", "length"))),
    "success": (expect_failure, stream(delta(content="hi"), delta("stop"))),
    "an error without words": (expect_failure, stream({"error": {}})),
    "an error without a code": (expect_failure, stream({"error": {"message": "down"}})),
    "two errors": (expect_failure, stream(ERROR, ERROR)),
    "an end after the error": (expect_failure, stream(ERROR, delta("stop"))),
}


@pytest.mark.parametrize(("expectation", "exchange"), GOOD.values(), ids=GOOD.keys())
def test_what_is_right_is_taken(expectation: Callable[..., object], exchange: Exchange) -> None:
    expectation(exchange, "a test")


@pytest.mark.parametrize(("expectation", "exchange"), BAD.values(), ids=BAD.keys())
def test_what_is_wrong_is_found(expectation: Callable[..., object], exchange: Exchange) -> None:
    with pytest.raises(Nonconformance):
        expectation(exchange, "a test")


def test_the_last_usage_counts() -> None:
    assert usage_of(stream({"usage": {"prompt_tokens": 1}}, {"usage": {"prompt_tokens": 2}})) == {"prompt_tokens": 2}
    assert usage_of(stream({"usage": None})) == {}


def test_a_server_that_does_not_count_cannot_be_measured() -> None:
    assert prompt_tokens(reply(completion(usage={"prompt_tokens": 7})), "a test") == 7
    with pytest.raises(Inconclusive):
        prompt_tokens(reply(completion()), "a test")
