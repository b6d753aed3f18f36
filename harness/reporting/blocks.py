"""The blocks that every Markdown report is made of; what the target sent cannot break out of them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from harness.reporting.visible import one_line, shortened

LIMIT = 65_536
"""No report has this many bytes of UTF-8, and so none has the characters that a comment on GitHub may have at most."""

_CELL_CHARACTERS = 300
_CUT = "\n\n**Cut off here: the rest did not fit.**\n"
_SPECIAL = re.compile(r"([\\`*_{}\[\]<>|#!~&$])")


@dataclass(frozen=True)
class Detail:
    """How much is shown; `body` is in characters, None leaves the exchanges out; `note` says what is missing."""

    body: int | None
    findings: bool
    note: str


_DETAILS = (
    Detail(2000, True, ""),
    Detail(600, True, "bodies are shortened further"),
    Detail(150, True, "bodies are shortened to a few words"),
    Detail(None, True, "the exchanges are left out"),
    Detail(None, False, "findings and exchanges are left out"),
)


def fitting(blocks: Callable[[Detail], Iterable[str]], limit: int = LIMIT) -> str:
    """The blocks of a document with as much detail as fits, in fewer than `limit` bytes."""
    for detail in _DETAILS:
        text = "\n\n".join(blocks(detail)) + "\n"
        if _size(text) < limit:
            return text
    kept = text.encode("utf-8")[: limit - len(_CUT) - 1].decode("utf-8", "ignore")
    return kept[: kept.rindex("\n")] + _CUT


def folded(summary: str, *blocks: str) -> Iterator[str]:
    """Blocks that are shown once `summary`, which is Markdown already, is clicked at."""
    yield f"<details><summary>{summary}</summary>"
    yield from blocks
    yield "</details>"


def table(columns: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    """A table; its cells are Markdown already."""
    lines = (f"| {' | '.join(cells)} |" for cells in (columns, ("---",) * len(columns), *rows))
    return "\n".join(lines)


def fenced(text: str) -> str:
    """`text` as it is, in a fence that is longer than any within."""
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}text\n{text}\n{fence}"


def escaped(text: str) -> str:
    """`text` in one line, shortened, with nothing in it that Markdown reads as anything but text."""
    return _SPECIAL.sub(r"\\\1", shortened(one_line(text), _CELL_CHARACTERS))


def _size(text: str) -> int:
    return len(text.encode("utf-8"))
