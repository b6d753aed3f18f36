from __future__ import annotations

from dataclasses import replace

import pytest

from harness.exchange import Chunk, Exchange, Request
from harness.reply_words import came, if_slow, statuses

WHOLE = Exchange(1, "client", Request("GET", "/v1/models"), 0.0, status=200, end="complete")
LATE = replace(WHOLE, status=None, end="gone", error="no end within 20 s")


@pytest.mark.parametrize(
    ("reply", "told"),
    [
        (WHOLE, "200: empty"),
        (replace(WHOLE, chunks=(Chunk(0.1, b"so\n  no"),)), "200: so no"),
        (replace(WHOLE, headers=(("Server", "nginx"),)), "200 (server: nginx): empty"),
        (replace(LATE, status=200), "200: empty (no end within 20 s)"),
        (LATE, "nothing (no end within 20 s)"),
    ],
    ids=["empty", "body", "server", "without an end", "nothing"],
)
def test_answer_is_told_with_what_there_is_of_it(reply: Exchange, told: str) -> None:
    assert came(reply) == told


def test_whole_answer_needs_no_longer_deadline() -> None:
    assert if_slow(WHOLE) == ""


def test_answer_that_took_too_long_may_need_a_longer_deadline() -> None:
    assert if_slow(LATE).endswith("raise deadline in the target file")


def test_statuses_are_told_once_each_and_the_first_few() -> None:
    others = [replace(WHOLE, request=Request("GET", f"/{number}")) for number in range(5)]
    assert statuses([WHOLE, WHOLE, LATE, *others]) == "200 to GET /v1/models, nothing to GET /v1/models, 200 to GET /0"
