"""A small deterministic tokenizer, which stands for a real model's: it cuts text into words of at most four letters.

It is nobody's vocabulary. It has what checks need: the same text has the same tokens, tokens joined are the text, and
a word more in a prompt is a token more.
"""

from __future__ import annotations

import json
import re
import zlib
from typing import Any

from harness.fakes.model.script import messages_of

VOCABULARY = 32_000
"""How many ids there are; two words may share one."""

_PIECE = re.compile(r"\s?\w{1,4}|\s?[^\w\s]|\s")


def pieces(text: str) -> list[str]:
    """The tokens of `text` as text."""
    return _PIECE.findall(text)


def token_ids(text: str) -> list[int]:
    """The ids of the tokens of `text`."""
    return [zlib.crc32(piece.encode("utf-8", "surrogatepass")) % VOCABULARY for piece in pieces(text)]


def log_probabilities(ids: list[int]) -> list[float]:
    """For each token a log-probability: below zero, and always the same for the same id."""
    return [-(1 + id_ % 999) / 1000 for id_ in ids]


def prompt_text(body: Any) -> str:
    """What the model reads of a chat completions request: its messages and its tools."""
    lines = [f"{role}: {text}" for role, text in messages_of(body)]
    tools = body.get("tools")
    return "\n".join([*lines, *([json.dumps(tools)] if tools else [])])
