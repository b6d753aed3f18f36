"""The line on which each value of a TOML document begins.

`tomllib` gives no positions and `tomlkit` keeps none that are public. A text that `tomllib` has accepted is
known to be valid, so finding the lines needs a scanner that follows strings, keys and brackets only and
never judges.
"""

from __future__ import annotations

import re
import tomllib
from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass

KeyPath = tuple[str | int, ...]
"""The keys and array indexes that lead to a value, from the document's root `()`."""

_BLANK = re.compile(r"(?:[ \t\r\n]|#[^\n]*)*")
_BETWEEN = re.compile(r"(?:[ \t\r\n,]|#[^\n]*)*")
_KEY = re.compile(r"""[A-Za-z0-9_-]+|"(?:\\.|[^"\\])*"|'[^']*'""")
_STRING = re.compile(
    r'"""(?:\\[\s\S]|[^\\])*?"{3,5}'
    r"|'''[\s\S]*?'{3,5}"
    r'|"(?:\\.|[^"\\])*"'
    r"|'[^']*'"
)
_SCALAR = re.compile(r"[^,\]}#\n]+")


@dataclass(frozen=True)
class Lines:
    """The line, counted from 1, of every key, table and array element that the document writes out."""

    by_path: Mapping[KeyPath, int]

    def of(self, path: KeyPath) -> int:
        """Return the line of `path`, or of its nearest parent that is written out; the root is on line 1."""
        while path and path not in self.by_path:
            path = path[:-1]
        return self.by_path[path] if path else 1


def lines(text: str) -> Lines:
    """Return the lines of `text`, which must be TOML that `tomllib` accepts."""
    scanner = _Scanner(text)
    scanner.document()
    return Lines(scanner.found)


class _Scanner:
    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._line_ends = [match.start() for match in re.finditer("\n", text)]
        self._last_of_array: dict[KeyPath, int] = {}
        self.found: dict[KeyPath, int] = {}

    def document(self) -> None:
        table: KeyPath = ()
        while self._skip(_BLANK) < len(self._text):
            if self._text[self._at] == "[":
                table = self._header()
            else:
                self._pair(table)

    def _header(self) -> KeyPath:
        line = self._line()
        brackets = 2 if self._text.startswith("[[", self._at) else 1
        self._at += brackets
        *parents, name = self._dotted_key()
        self._at += brackets
        path: KeyPath = ()
        for parent in parents:
            path = (*path, parent)
            self.found.setdefault(path, line)
            if path in self._last_of_array:
                path = (*path, self._last_of_array[path])
        path = (*path, name)
        if brackets == 1:
            self.found[path] = line
            return path
        self.found.setdefault(path, line)
        self._last_of_array[path] = self._last_of_array.get(path, -1) + 1
        path = (*path, self._last_of_array[path])
        self.found[path] = line
        return path

    def _pair(self, table: KeyPath) -> None:
        line = self._line()
        path = table
        for part in self._dotted_key():
            path = (*path, part)
            self.found.setdefault(path, line)
        self._at += len("=")
        self._skip(_BLANK)
        self._value(path)

    def _value(self, path: KeyPath) -> None:
        self.found.setdefault(path, self._line())
        opening = self._text[self._at]
        if opening == "[":
            self._array(path)
        elif opening == "{":
            self._inline_table(path)
        else:
            self._skip(_STRING if opening in "\"'" else _SCALAR)

    def _array(self, path: KeyPath) -> None:
        self._at += len("[")
        index = 0
        while not self._closed("]"):
            self._value((*path, index))
            index += 1

    def _inline_table(self, path: KeyPath) -> None:
        self._at += len("{")
        while not self._closed("}"):
            self._pair(path)

    def _closed(self, bracket: str) -> bool:
        """Pass what stands between two elements; tell whether the closing bracket came, and pass it too."""
        self._skip(_BETWEEN)
        closed = self._text[self._at] == bracket
        self._at += closed
        return closed

    def _dotted_key(self) -> list[str]:
        parts = []
        while True:
            self._skip(_BLANK)
            start = self._at
            parts.append(_plain(self._text[start : self._skip(_KEY)]))
            self._skip(_BLANK)
            if self._text[self._at] != ".":
                return parts
            self._at += 1

    def _skip(self, pattern: re.Pattern[str]) -> int:
        match = pattern.match(self._text, self._at)
        assert match is not None, f"not TOML at offset {self._at}"
        self._at = match.end()
        return self._at

    def _line(self) -> int:
        return bisect_right(self._line_ends, self._at) + 1


def _plain(key: str) -> str:
    if key[0] not in "\"'":
        return key
    plain: str = tomllib.loads(f"key = {key}")["key"]
    return plain
