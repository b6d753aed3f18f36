from __future__ import annotations

import re

import pytest

from harness.signature import signature_of, steady
from harness.world import derive_nonce
from tests.sample_results import HOSTILE, finding

ONE, OTHER = (derive_nonce(seed, "check", "asked") for seed in ("a", "b"))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (f"an answer without {ONE}", f"an answer without {OTHER}"),
        (f"cut off in {ONE[:9]}", f"cut off in {OTHER[:9]}"),
        ('{"delta":{"content":"j"}}', '{"delta":{"content":"a \\"quoted\\" k"}}'),
        ("{'content': 'one', 'a': 'b'}", "{'content': 'other', 'a': 'b'}"),
        ('{"id": "chatcmpl-eccc23ab0a1b3df39199200c"}', '{"id": "chatcmpl-0c8e1ab39f"}'),
        ("ses_6f1e2a77bffeT2q9", "ses_5a03bc11dffeXk1R"),
        ("run 3f0f9e64-3a9a-4a5c-9d0b-0b8f5b5e2d11", "run 8d3c1c1e-02f5-4f7e-8a39-2f9a1c9b7f00"),
        ('"created": 1795979420', '"created": 1800000000'),
        ("no answer from http://127.0.0.1:40123/v1", "no answer from http://127.0.0.1:9000/v1"),
        ("localhost:8000 refused", "localhost:65001 refused"),
        ("kept in /tmp/turnproof-a1b2c3/target-x/db", "kept in /var/tmp/turnproof-zzz/target-y/db"),
        ("after 2.53 s", "after 2.6 s"),
        ("in 95 ms", "in 104 ms"),
        ("at 2026-11-29T22:49:11+00:00", "at 2027-01-01T00:00:00.5Z"),
        ("tokens [1, 181, 2.5e-3]", "tokens [7, 8, 578, 9]"),
        ("3 requests", "12 requests"),
        ("the model's  word", "the model's\nword"),
    ],
)
def test_failures_that_differ_as_runs_do_have_one_signature(one: str, other: str) -> None:
    assert steady(one) == steady(other)
    assert signature_of(finding(came=one)) == signature_of(finding(came=other))
    assert signature_of(finding(expected=one)) == signature_of(finding(expected=other))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("404 application/json", "500 application/json"),
        ("404 application/json", "404 text/html"),
        ("no answer", "an answer"),
        ("error.code 'model_not_found'", "error.code 'invalid_api_key'"),
        ("", "empty"),
        ('{"content":""}', '{"content":"x"}'),
        ('{"content":"x","a":1}', '{"content":"x","b":1}'),
    ],
)
def test_failures_that_differ_in_kind_have_two_signatures(one: str, other: str) -> None:
    assert signature_of(finding(came=one)) != signature_of(finding(came=other))
    assert signature_of(finding(expected=one)) != signature_of(finding(expected=other))


def test_what_was_expected_and_what_came_are_told_apart() -> None:
    assert signature_of(finding(expected="a b", came="c")) != signature_of(finding(expected="a", came="b c"))


def test_end_of_a_long_text_that_came_does_not_matter() -> None:
    told = "status 502 and then "
    assert signature_of(finding(came=told + "x" * 2000)) == signature_of(finding(came=told + "x" * 1990 + "y"))


def test_exchange_and_mend_do_not_matter() -> None:
    assert signature_of(finding(1, mend="a")) == signature_of(finding(2, mend="b"))


def test_signature_of_anything_has_sixteen_digits() -> None:
    assert re.fullmatch("[0-9a-f]{16}", signature_of(finding(expected=HOSTILE, came=HOSTILE)))
