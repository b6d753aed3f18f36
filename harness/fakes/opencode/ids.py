"""Ids as opencode makes them: a prefix, twelve hexadecimal digits of the time, fourteen random letters and digits."""

from __future__ import annotations

import itertools
import secrets
import string
import time

_ALPHABET = string.digits + string.ascii_letters
_SEQUENCE = itertools.count(1)


def new_id(prefix: str) -> str:
    """An id that sorts after every earlier one of its prefix; sessions, newest first, sort before."""
    stamp = (int(time.time() * 1000) * 0x1000 + next(_SEQUENCE) % 0x1000) & 0xFFFFFFFFFFFF
    if prefix == "ses":
        stamp ^= 0xFFFFFFFFFFFF
    return f"{prefix}_{stamp:012x}" + "".join(_ALPHABET[byte % 62] for byte in secrets.token_bytes(14))


def now() -> int:
    """The time in milliseconds, as opencode writes it."""
    return int(time.time() * 1000)
