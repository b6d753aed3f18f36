from __future__ import annotations

import json
from typing import Any

import pytest

from harness.exchange import Exchange
from harness.reporting.behind import errors_in, failed_behind
from tests.sample_results import exchange

ERROR = {"name": "ProviderAuthError", "data": {"message": "größer"}}
SSE = (("content-type", "text/event-stream"),)


def _answer(number: int, body: Any, status: int | None = 200, **rest: Any) -> Exchange:
    return exchange(number, chunks=[json.dumps(body).encode()], status=status, hop="opencode", **rest)


def _events(*values: Any) -> Exchange:
    chunks = [b"data: " + json.dumps(value).encode() + b"\n\n" for value in values]
    return exchange(1, chunks=chunks, status=200, headers=SSE, hop="opencode", end="gone")


FAILED = {"info": {"id": "m", "error": ERROR}, "parts": []}
FINE = {"info": {"id": "m", "error": None}, "parts": [{"type": "text", "text": '"error": {'}]}


@pytest.mark.parametrize(
    "one",
    [
        _answer(1, FAILED),
        _answer(1, [FINE, FAILED]),
        _answer(1, {"name": "NotFoundError"}, 404),
        _answer(1, {}, None, end="failed"),
        _events({"type": "session.idle"}, {"type": "session.error", "properties": {"error": ERROR}}),
    ],
    ids=["message", "messages", "status", "no answer", "event"],
)
def test_exchange_that_tells_of_an_error_is_found(one: Exchange) -> None:
    assert failed_behind([one, _answer(2, FINE), exchange(3)]) is one


@pytest.mark.parametrize("one", [_answer(1, FINE), _answer(1, ["x"]), _answer(1, None), _events({"type": "error"}, 7)])
def test_exchange_without_an_error_is_none(one: Exchange) -> None:
    assert failed_behind([one]) is None


def test_last_of_several_is_found() -> None:
    assert failed_behind([_answer(1, FAILED), last := _answer(2, FAILED)]) is last


def test_failure_on_another_hop_is_none() -> None:
    assert failed_behind([exchange(1, status=500), exchange(2, status=500, hop="model")]) is None


def test_error_of_a_message_is_told_without_the_rest_of_it() -> None:
    assert json.loads(errors_in(_answer(1, FAILED))) == {"info": {"error": ERROR}}


def test_error_of_a_session_is_told_with_its_event() -> None:
    event = {"type": "session.error", "properties": {"sessionID": "s", "error": ERROR}}
    assert json.loads(errors_in(_events({"type": "session.idle"}, event))) == event


def test_body_of_a_refusal_is_an_error_as_a_whole() -> None:
    assert errors_in(_answer(1, FAILED, 400)) == ""


def _nested(depth: int) -> Exchange:
    deep = b'{"info":{"error":' + b"[" * depth + b"]" * depth + b"}}"
    return exchange(chunks=[deep], status=200, hop="opencode")


def test_error_that_is_nested_too_deeply_is_none() -> None:
    assert errors_in(_nested(100_000)) == ""


def test_error_that_can_be_read_and_perhaps_not_written_breaks_nothing() -> None:
    assert errors_in(_nested(980)).strip()[:1] in ("", "{")
