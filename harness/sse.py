"""Server-sent events, parsed from bytes as the HTML standard says, by an incremental parser without I/O.

Lines end with LF, CR or CRLF and nothing else (U+0085, U+2028 and U+2029 are data); a field's value loses one
leading space; lines of `data` are joined with LF; an event without data is dropped; an unfinished event at the
end of the stream is dropped too.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

_BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True)
class Event:
    """One dispatched event: its type (`message` unless named), data and last id."""

    type: str
    data: str
    id: str = ""

    def json(self) -> Any:
        """The data as JSON, or None when it is none."""
        try:
            return json.loads(self.data)
        except (ValueError, RecursionError):
            return None


class Parser:
    """Feed it bytes in any cut; it hands out the events that became whole."""

    def __init__(self) -> None:
        self._start: bytes | None = b""
        self._line: list[bytes] = []
        self._after_cr = False
        self._fields = False
        self._type = ""
        self._data: list[str] = []
        self._id = ""

    def feed(self, data: bytes) -> list[Event]:
        """The events completed by `data`, in order."""
        if self._start is not None:
            data = self._start + data
            if len(data) < len(_BOM) and _BOM.startswith(data):
                self._start = data
                return []
            self._start = None
            data = data.removeprefix(_BOM)
        return [event for line in self._lines(data) if (event := self._take(line)) is not None]

    @property
    def pending(self) -> bool:
        """Whether something was fed after the last empty line: an event, or a part of one, is not over yet."""
        return bool(self._start or self._line or self._fields)

    def _lines(self, data: bytes) -> list[bytes]:
        if not data:
            return []
        if self._after_cr:
            data = data.removeprefix(b"\n")
        self._after_cr = data.endswith(b"\r")
        first, *others = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n")
        if first:
            self._line.append(first)
        if not others:
            return []
        *whole, rest = b"".join(self._line), *others
        self._line = [rest] if rest else []
        return whole

    def _take(self, line: bytes) -> Event | None:
        self._fields = bool(line)
        if not line:
            return self._dispatch()
        name, _, rest = line.partition(b":")
        value = rest.removeprefix(b" ").decode("utf-8", "replace")
        if name == b"data":
            self._data.append(value)
        elif name == b"event":
            self._type = value
        elif name == b"id" and "\0" not in value:
            self._id = value
        return None

    def _dispatch(self) -> Event | None:
        event = Event(self._type or "message", "\n".join(self._data), self._id) if self._data else None
        self._type, self._data = "", []
        return event


def parse(data: bytes) -> list[Event]:
    """All events of a whole stream."""
    return Parser().feed(data)


def encode(payload: Any) -> bytes:
    """One event whose data is `payload` as compact JSON."""
    return b"data: " + json.dumps(payload, ensure_ascii=False, separators=(",", ":")).encode() + b"\n\n"
