"""What a process wrote: bounded, however much it was."""

from __future__ import annotations

import re
import threading

KEPT_BYTES = 64 * 1024
_LONGEST_LINE = 64 * 1024


class Output:
    """The first and the last 64 KiB of a stream, and the first line that each watched pattern matched.

    Safe to use from several threads.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._head = bytearray()
        self._tail = bytearray()
        self._total = 0
        self._line = b""
        self._closed = False
        self._searched: set[re.Pattern[str]] = set()
        self._found: dict[re.Pattern[str], str] = {}

    @property
    def total(self) -> int:
        """The number of bytes that came in."""
        return self._total

    @property
    def left_out(self) -> int:
        """The number of bytes between the kept beginning and the kept end."""
        return max(0, self._total - 2 * KEPT_BYTES)

    def feed(self, data: bytes) -> None:
        """Take in the next bytes."""
        with self._lock:
            self._total += len(data)
            room = KEPT_BYTES - len(self._head)
            self._head += data[:room]
            self._tail += data[room:]
            if len(self._tail) > 2 * KEPT_BYTES:
                del self._tail[:-KEPT_BYTES]
            self._search(data)

    def close(self) -> None:
        """Take what follows the last newline for a line: nothing more will come."""
        with self._lock:
            self._closed = True
            self._match([self._line], tuple(self._searched))

    def watch(self, pattern: re.Pattern[str]) -> None:
        """Look for a pattern from now on, and in what is kept of the past."""
        with self._lock:
            if pattern in self._searched:
                return
            self._searched.add(pattern)
            *lines, self._line = self._kept().split(b"\n")
            self._match([*lines, self._line] if self._closed else lines, (pattern,))

    def found(self, pattern: re.Pattern[str]) -> str | None:
        """Return the first line that a watched pattern was found in, without its line ending."""
        with self._lock:
            return self._found.get(pattern)

    def text(self) -> str:
        """Return what is kept as text; a line in the middle says how many bytes were left out."""
        with self._lock:
            return self._kept().decode(errors="replace")

    def since(self, total: int) -> str:
        """Return the lines that began after the first `total` bytes, as many of the last of them as 64 KiB hold."""
        with self._lock:
            start = max(total, self._total - KEPT_BYTES + 1)
            if start == 0:
                return bytes(self._head).decode(errors="replace")
            kept = bytes(self._head + self._tail)
            _, _, lines = kept[len(kept) - (self._total - start) - 1 :].partition(b"\n")
            return lines.decode(errors="replace")

    def _kept(self) -> bytes:
        if not self.left_out:
            return bytes(self._head + self._tail)
        marker = f"\n[… {self.left_out} bytes left out …]\n".encode()
        return bytes(self._head + marker + self._tail[-KEPT_BYTES:])

    def _search(self, data: bytes) -> None:
        missing = tuple(pattern for pattern in self._searched if pattern not in self._found)
        if not missing:
            return
        *lines, rest = (self._line + data).split(b"\n")
        self._line = rest[-_LONGEST_LINE:]
        self._match(lines, missing)

    def _match(self, lines: list[bytes], patterns: tuple[re.Pattern[str], ...]) -> None:
        for line in lines:
            text = line.decode(errors="replace").rstrip("\r")
            for pattern in patterns:
                if pattern not in self._found and pattern.search(text):
                    self._found[pattern] = text
