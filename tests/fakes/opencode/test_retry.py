from __future__ import annotations

import json

import pytest

from harness.fakes.opencode.retry import is_overflow, passes, refused, retry_seconds


@pytest.mark.parametrize(("attempt", "seconds"), [(1, 2.0), (2, 4.0), (3, 8.0), (9, 30.0)])
def test_waits_double_up_to_a_limit_and_are_drawn_out_by_a_quarter(attempt: int, seconds: float) -> None:
    assert seconds <= retry_seconds(attempt, {}) <= 1.25 * seconds


@pytest.mark.parametrize(
    ("headers", "seconds"), [({"retry-after": "3"}, 3.0), ({"retry-after-ms": "250", "retry-after": "3"}, 0.25)]
)
def test_what_the_model_server_wishes_is_kept_to(headers: dict[str, str], seconds: float) -> None:
    assert retry_seconds(4, headers) == seconds


def test_a_wish_that_is_no_number_is_passed_over() -> None:
    assert retry_seconds(1, {"retry-after": "soon"}) >= 2.0


@pytest.mark.parametrize(
    ("message", "overflow"),
    [
        ("This model's maximum context length is 8192 tokens.", True),
        ("context_length_exceeded", True),
        ("the request exceeds the available context size", True),
        ("maximum prompt length is 131072", True),
        ("context window exceeded", False),
        ("max_tokens is too large", False),
    ],
)
def test_an_overflow_is_told_by_its_message(message: str, overflow: bool) -> None:
    assert is_overflow(message) is overflow


def test_an_error_of_the_servers_type_is_tried_again_whatever_its_status() -> None:
    body = json.dumps({"error": {"message": "boom", "type": "server_error"}}).encode()
    failed = refused(401, {}, body, "http://h", retryable=False, types={"server_error"})
    assert failed.retried
    assert failed.error["data"]["isRetryable"] is False


def test_a_refusal_that_is_not_json_is_told_as_it_came() -> None:
    assert refused(502, {}, b"<html>", "http://h", retryable=True, types=()).shown == "<html>"


@pytest.mark.parametrize(
    ("error", "again"),
    [
        ({"message": "Overloaded now"}, True),
        ({"message": "x", "type": "rate_limit_error"}, True),
        ({"message": "x", "type": "t", "code": "rate_limit_exceeded"}, True),
        ({"message": "x", "code": 503}, True),
        ({"message": "x", "code": "500"}, True),
        ({"message": "x", "type": "t", "code": 400}, False),
        ({"message": "bad", "type": "invalid_request_error"}, False),
    ],
)
def test_an_error_in_a_stream_is_tried_again_when_it_is_one_to_pass(error: dict[str, object], again: bool) -> None:
    assert passes(error) is again


def test_a_code_tells_of_an_overflow_whatever_the_words() -> None:
    body = json.dumps({"error": {"message": "too big", "code": "context_length_exceeded"}}).encode()
    assert refused(400, {}, body, "http://h", retryable=False, types=()).overflow
