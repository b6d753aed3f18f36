"""By which rule the tokens of a request were chosen, seen from outside."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from harness.fakes.kilo.budget import CEILING, MARGIN, TOKENS_PER_CHARACTER

Rule = Literal["base", "window", "unknown"]

TOLERANCE = 100
"""Tokens by which the CLI's estimate of a prompt may differ from ours: it counts before the prompt is worded for the
wire."""


def base(limit: Mapping[str, int | None]) -> int:
    """What a request asks for where the window does not matter."""
    return min(limit.get("output") or 0, CEILING) or CEILING


def room(limit: Mapping[str, int | None], characters: int) -> float:
    """What the window leaves for the answer to a prompt of so many characters."""
    return (limit.get("context") or 0) - characters * TOKENS_PER_CHARACTER - MARGIN


def rule_of(call: Mapping[str, Any], limit: Mapping[str, int | None]) -> Rule:
    """The rule by which a call, as outcomes describe it, came to its `max_tokens`."""
    sent = call.get("max_tokens")
    if sent == base(limit):
        return "base"
    if sent is not None and abs(sent - room(limit, call["characters"])) <= TOLERANCE:
        return "window"
    return "unknown"
