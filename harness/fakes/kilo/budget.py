"""How many tokens a request asks for."""

from __future__ import annotations

import json
import math
from typing import Any

from harness.fakes.kilo.rules import Rules

CEILING = 32000
"""The most tokens that are asked for, and what is asked for when the configuration says nothing."""

MARGIN = 2048
"""Tokens of the window that are left free."""

LEAST = 1024
"""The fewest tokens that are asked for when the window caps them."""

TOKENS_PER_CHARACTER = 1.3 / 4
"""How a prompt's tokens are estimated from its characters."""


def estimated_tokens(messages: list[Any], tools: list[Any]) -> int:
    """The estimate of a prompt's tokens."""
    characters = sum(len(json.dumps(one, ensure_ascii=False, separators=(",", ":"))) for one in (messages, tools))
    return math.ceil(characters * TOKENS_PER_CHARACTER)


def max_tokens(
    rules: Rules, model: str, entry: dict[str, Any], messages: list[Any], tools: list[Any], default: int = CEILING
) -> int | None:
    """The `max_tokens` of a request for a model with that entry in the configuration; None to leave it out."""
    if "gpt-5" in model:
        return None
    limit = entry.get("limit") or {}
    base = min(int(limit.get("output") or 0), CEILING) or default
    context = int(limit.get("context") or 0)
    room = context - estimated_tokens(messages, tools) - MARGIN
    if not rules.window or room <= 0 or room >= base:
        return base
    return max(LEAST, room)
