"""What is left of an exchange when all that differs between two runs is taken out: ids, times, ports, paths, counts.

Ids become `ses_1`, `msg_2` in the order in which they are first seen, so that who speaks of whom is kept.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

_ID = re.compile(r"\b(ses|msg|prt|per|que|evt|err|job)_(?:[0-9a-f]{8,12}[0-9A-Za-z]{14}|[0-9a-f]{8})\b")
_ISO_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z")
_GUESS = re.compile(r" Did you mean: [^?]*\?")
_TIMES = frozenset({"created", "updated", "completed", "start", "end", "time", "compacting", "archived", "next"})
_COUNTED = frozenset({"input", "total"})
"""Token counts that depend on how long the server's own prompts are."""

_LONG = 400
_CHATTY = ("date", "content-length", "vary", "connection", "keep-alive", "transfer-encoding", "content-encoding")


class Normal:
    """Replaces what differs. `places` are texts with what to write in their stead, the longest first."""

    def __init__(self, places: Mapping[str, str]) -> None:
        self._places = dict(sorted(places.items(), key=lambda pair: -len(pair[0])))
        self._ids: dict[str, str] = {}
        self._counts: dict[str, int] = {}

    def text(self, value: str) -> str:
        """A text without what differs, without a stack trace, and without what the model catalogue suggests."""
        for place, name in self._places.items():
            value = value.replace(place, name)
        value = _GUESS.sub("", value.partition("\n    at ")[0])
        return _ISO_TIME.sub("<time>", _ID.sub(self._id, value))

    def value(self, value: Any) -> Any:
        """A JSON value without what differs."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, list):
            return [self.value(item) for item in value]
        if isinstance(value, dict):
            return {self.text(key): self._field(key, item) for key, item in sorted(value.items())}
        return value

    def _field(self, key: str, value: Any) -> Any:
        number = isinstance(value, int | float) and not isinstance(value, bool)
        if key in _TIMES and number:
            return "<time>"
        if key in _COUNTED and number and value:
            return "<count>"
        if key in ("slug", "version") and isinstance(value, str):
            return f"<{key}>"
        if key in ("responseHeaders", "headers") and isinstance(value, dict):
            return {name: self.value(item) for name, item in value.items() if name.lower() not in _CHATTY}
        return self.value(value)

    def _id(self, match: re.Match[str]) -> str:
        if match[0] not in self._ids:
            self._counts[match[1]] = self._counts.get(match[1], 0) + 1
            self._ids[match[0]] = f"{match[1]}_{self._counts[match[1]]}"
        return self._ids[match[0]]


def shortened(value: Any) -> Any:
    """A JSON value whose long texts are cut to their beginning: what a tool printed, an error's whole body."""
    if isinstance(value, str) and len(value) > _LONG:
        return f"{value[:_LONG]}…"
    if isinstance(value, list):
        return [shortened(item) for item in value]
    if isinstance(value, dict):
        return {key: shortened(item) for key, item in value.items()}
    return value
