"""Keys that are nearly right. They tell most of the key, so that they are secrets like the key itself."""

from __future__ import annotations

from collections.abc import Callable

SPOILT: dict[str, Callable[[str], str]] = {
    "without its end": lambda secret: secret[:-1],
    "in the other case": str.swapcase,
}
"""What may be done to a key."""

_LONG = 16
"""Characters of a key that no other text in a record holds by chance, nor what is left of it."""


def spoilt(secret: str) -> dict[str, str]:
    """What each of `SPOILT` makes of `secret`, where that is something else; nothing is made of a short one."""
    if len(secret) < _LONG:
        return {}
    return {how: made for how, change in SPOILT.items() if (made := change(secret)) != secret}


def name_of_spoilt(key: str, how: str) -> str:
    """How a record names such a secret, made of the key of that name."""
    return f"key.{key} {how}"
