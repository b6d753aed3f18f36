"""How many turns a key has begun in the last minute."""

from __future__ import annotations

import math
from collections import defaultdict, deque

from harness.reference.endpoint.envelope import Refusal
from harness.reference.endpoint.keys import Key

WINDOW = 60.0
"""Seconds over which a cap counts."""


class RateMeter:
    """Counts turns by key, in this process only."""

    def __init__(self) -> None:
        self._begun: defaultdict[str, deque[float]] = defaultdict(deque)

    def count(self, key: Key, now: float) -> None:
        """Count a turn at `now`, in seconds of any steady clock; raises `Refusal` when the key has no turn left."""
        if key.rate_cap is None:
            return
        begun = self._begun[key.id]
        while begun and begun[0] <= now - WINDOW:
            begun.popleft()
        if len(begun) >= key.rate_cap:
            wait = math.ceil(begun[0] + WINDOW - now) if begun else int(WINDOW)
            raise Refusal(
                429,
                f"This key may begin {key.rate_cap} turns a minute.",
                type="rate_limit_error",
                code="rate_limit_exceeded",
                headers={"retry-after": str(wait)},
            )
        begun.append(now)
