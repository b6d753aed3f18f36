from __future__ import annotations

import json
from typing import Any

import pytest

from harness.check import Nonconformance
from harness.exchange import End, Exchange
from harness.expectations import (
    ENVELOPE,
    ending,
    expect_completion,
    expect_no_calls,
    expect_refusal,
    expect_said,
    expect_stream,
    shown,
)
from harness.results import Finding
from tests.sample_results import exchange

JSON = "application/json"
CHOICE = {"index": 0, "message": {"role": "assistant", "content": "said"}, "finish_reason": "stop"}
COMPLETION = {"id": "c", "object": "chat.completion", "created": 1, "model": "m", "choices": [CHOICE]}
ERROR = {"error": {"message": "no", "type": "invalid_request_error", "code": "bad", "param": None}}


def answer(status: int | None, body: Any, kind: str | None = JSON, end: End = "complete", **rest: Any) -> Exchange:
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    headers = (("Content-Type", kind),) if kind else ()
    return exchange(7, chunks=[data], status=status, headers=headers, end=end, **rest)


def finding(error: pytest.ExceptionInfo[Nonconformance]) -> Finding:
    return error.value.finding


@pytest.mark.parametrize(
    ("seen", "words"),
    [
        (answer(404, ERROR), "404 application/json: {"),
        (answer(204, b"", None), "204 without a media type: empty"),
        (answer(None, b"", error="ConnectError: refused"), "no answer (ConnectError: refused)"),
        (answer(None, b"", end="gone"), "no answer (gone)"),
    ],
)
def test_answer_is_shown_in_a_few_words(seen: Exchange, words: str) -> None:
    assert shown(seen).startswith(words)


def test_refusal_in_the_envelope_is_as_expected() -> None:
    expect_refusal(answer(401, ERROR, "application/json; charset=utf-8"), {401}, "x", "mend", code="bad")


@pytest.mark.parametrize(
    ("seen", "expected"),
    [
        (answer(200, ERROR), "status 400 or 401 for x"),
        (answer(None, b""), "status 400 or 401 for x"),
        (answer(401, ERROR, "text/html"), "an error envelope as application/json for x"),
        (answer(401, {"error": "no"}), f"{ENVELOPE}, for x"),
        (answer(401, b"no"), f"{ENVELOPE}, for x"),
        (answer(401, {"error": {**ERROR["error"], "code": "other"}}), "error.code 'bad' for x"),
    ],
)
def test_other_refusal_is_a_finding(seen: Exchange, expected: str) -> None:
    with pytest.raises(Nonconformance) as error:
        expect_refusal(seen, {401, 400}, "x", "mend", code="bad")
    assert (finding(error).expected, finding(error).exchange) == (expected, 7)


def test_content_of_an_expected_completion_is_returned() -> None:
    assert expect_completion(answer(200, COMPLETION), "x") == "said"


@pytest.mark.parametrize(
    "seen",
    [
        answer(500, COMPLETION),
        answer(200, COMPLETION, "text/event-stream"),
        answer(200, {**COMPLETION, "choices": None}),
        answer(200, b""),
    ],
)
def test_what_is_no_completion_is_a_finding(seen: Exchange) -> None:
    with pytest.raises(Nonconformance) as error:
        expect_completion(seen, "x")
    assert finding(error).exchange == 7


def test_expected_stream_is_returned() -> None:
    assert len(expect_stream(answer(200, b"data: [DONE]\n\n", "text/event-stream; charset=utf-8"), "x").events) == 1


@pytest.mark.parametrize(
    "seen",
    [
        answer(200, b"data: [DONE]\n\n", JSON),
        answer(502, b"data: [DONE]\n\n", "text/event-stream"),
        answer(200, b"data: [DONE]\n\n", "text/event-stream", end="cut"),
        answer(200, b"data: [DONE]\n\n", "text/event-stream", end="gone"),
    ],
)
def test_what_is_no_whole_stream_is_a_finding(seen: Exchange) -> None:
    with pytest.raises(Nonconformance):
        expect_stream(seen, "x")


def test_word_that_is_missing_is_a_finding() -> None:
    expect_said("before word after", "word", answer(200, b""))
    with pytest.raises(Nonconformance, match="came empty text"):
        expect_said("", "word", answer(200, b""))


def test_call_where_none_may_be_is_a_finding_that_shows_it() -> None:
    expect_no_calls([], "opencode", "x")
    with pytest.raises(Nonconformance, match="came 1: POST /v1/chat/completions") as error:
        expect_no_calls([answer(200, b"")], "opencode", "x")
    assert finding(error).exchange == 7


@pytest.mark.parametrize(
    ("text", "end"),
    [
        (b"", ""),
        (b"one line", "one line"),
        (b"data: a\n\ndata: b\n\n", "data: a\n\ndata: b"),
        (b"x" * 290 + b"\n\ndata: last words\n\n", "data: last words"),
        (b"y" * 400, "y" * 300),
    ],
)
def test_ending_of_an_answer_has_whole_lines(text: bytes, end: str) -> None:
    assert ending(answer(200, text)) == end
