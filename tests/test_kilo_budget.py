from __future__ import annotations

import pytest

from harness.kilo_budget import TOLERANCE, room, rule_of

WINDOW = {"output": 0, "context": 32768}
LEFT = round(room(WINDOW, 50_000))


@pytest.mark.parametrize(
    ("sent", "limit", "rule"),
    [
        (32000, {"output": None, "context": None}, "base"),
        (8192, {"output": 8192, "context": 32768}, "base"),
        (32000, {"output": 100000, "context": 131072}, "base"),
        (LEFT, WINDOW, "window"),
        (LEFT + TOLERANCE - 1, WINDOW, "window"),
        (LEFT + TOLERANCE + 2, WINDOW, "unknown"),
        (None, WINDOW, "unknown"),
        (4096, {"output": None, "context": None}, "unknown"),
    ],
)
def test_the_rule_is_told_from_what_was_sent(sent: int | None, limit: dict[str, int | None], rule: str) -> None:
    assert rule_of({"max_tokens": sent, "characters": 50_000}, limit) == rule
