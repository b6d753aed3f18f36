from __future__ import annotations

import pytest

from harness.fakes.kilo.budget import CEILING, LEAST, MARGIN, estimated_tokens, max_tokens
from harness.fakes.kilo.rules import NEWEST, Rules, table_of

RULES = Rules.from_table(table_of(NEWEST))
MESSAGES = [{"role": "user", "content": "x" * 40_000}]
PROMPT = estimated_tokens(MESSAGES, [])


@pytest.mark.parametrize(
    ("limit", "expected"),
    [
        (None, CEILING),
        ({"context": 0, "output": 0}, CEILING),
        ({"context": 0, "output": 8192}, 8192),
        ({"context": 131072, "output": 100000}, CEILING),
        ({"context": 32768, "output": 8192}, 8192),
        ({"context": 32768, "output": 0}, 32768 - PROMPT - MARGIN),
        ({"context": PROMPT + MARGIN + 10, "output": 0}, LEAST),
        ({"context": PROMPT + MARGIN, "output": 8192}, 8192),
    ],
)
def test_the_budget_is_the_limit_or_what_the_window_leaves(limit: dict[str, int] | None, expected: int) -> None:
    entry = {"limit": limit} if limit else {}
    assert max_tokens(RULES, "m", entry, MESSAGES, []) == expected


def test_an_old_version_knows_no_window() -> None:
    entry = {"limit": {"context": 32768, "output": 0}}
    assert max_tokens(RULES._replace(window=False), "m", entry, MESSAGES, []) == CEILING


def test_some_models_are_asked_without_a_budget() -> None:
    assert max_tokens(RULES, "gpt-5-mini", {}, MESSAGES, []) is None
