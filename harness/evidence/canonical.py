"""Canonical JSON, of which a digest is taken: one spelling of every value.

Keys are in the order of their code points, there is no white space, and what is not ASCII is escaped. Numbers are
written as Python writes them: integers in full, others in the fewest digits that give the same value back. Unlike RFC
8785 it spells every string of JSON, also one with half a surrogate pair, which a target may have sent.
"""

from __future__ import annotations

import hashlib
import json
import math
from typing import Any


def canonical(value: Any) -> bytes:
    """The one spelling of a JSON value."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False).encode("ascii")


def digest(data: bytes) -> str:
    """The SHA-256 digest of `data` in hexadecimal digits."""
    return hashlib.sha256(data).hexdigest()


def parse(text: str) -> Any:
    """The JSON value that `text` is.

    Raises ValueError also for a key that is there twice, of which another reader might see the other value, and for
    numbers that JSON does not have.
    """
    return json.loads(text, object_pairs_hook=_object, parse_constant=_no_constant, parse_float=_finite)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) < len(pairs):
        raise ValueError("a key is there twice")
    return made


def _finite(literal: str) -> float:
    value = float(literal)
    if not math.isfinite(value):
        raise ValueError(f"{literal} is too large")
    return value


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is no number of JSON")
