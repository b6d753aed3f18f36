"""Text that a target or a user wrote, made safe to show: nothing in it acts, hides or breaks a format."""

from __future__ import annotations

import re

_ACTING = re.compile(
    "["
    "\x00-\x08\x0b-\x1f\x7f-\x9f"  # C0 without tab and line feed, DEL, C1: escapes of terminals begin here
    "\u00ad\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff"  # invisible, or turns the direction of writing
    "\u2028\u2029"  # line ends to some readers only
    "\ud800-\udfff\ufffe\uffff"  # no character of XML 1.0, and surrogates cannot be written as UTF-8
    "\U000e0000-\U000e007f"  # invisible tags
    "]"
)


_LEAST_LEFT_OUT = 100
"""Fewer characters are not worth a cut: what tells of it would be hardly shorter."""

_LINES = 15
_LINE_CHARACTERS = 500


def visible(text: str) -> str:
    """`text` with every character that acts or hides written out, such as `\\x1b`; tabs and line feeds stay."""
    return _ACTING.sub(lambda match: _escaped(match[0]), text)


def one_line(text: str) -> str:
    """`visible(text)`, with tabs and line feeds written out too."""
    return visible(text).replace("\t", "\\t").replace("\n", "\\n")


def shortened(text: str, limit: int) -> str:
    """`text` in fewer than `limit` and 100 more characters: its beginning and end, and how much is left out between."""
    if len(text) < limit + _LEAST_LEFT_OUT:
        return text
    head, tail = limit - limit // 4, limit // 4
    return f"{text[:head]} [... {len(text) - head - tail:,} characters left out ...] {text[len(text) - tail :]}"


def last_lines(text: str) -> tuple[str, ...]:
    """The last 15 lines of what a process wrote, safe to show, each shortened."""
    return tuple(shortened(visible(line), _LINE_CHARACTERS) for line in text.strip().splitlines()[-_LINES:])


def _escaped(character: str) -> str:
    return character.encode("unicode_escape").decode("ascii")
