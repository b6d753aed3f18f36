"""JSON pointers (RFC 6901)."""

from __future__ import annotations

from typing import Any


def pointed(value: Any, pointer: str) -> Any:
    """The part of `value` at `pointer`; raises LookupError when there is none."""
    try:
        for token in pointer.split("/")[1:]:
            name = token.replace("~1", "/").replace("~0", "~")
            value = value[int(name)] if isinstance(value, list) else value[name]
    except (ValueError, TypeError) as error:
        raise LookupError(f"nothing is at {pointer}") from error
    return value
