"""The documentation as tests read it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGES = tuple(sorted({*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "reports").glob("*.md")}))

_BLOCK = re.compile(r"^(`{3,})([\w+-]*)[^\n]*\n(.*?)^\1[ \t]*$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Block:
    """A fenced block of a page: what language it is in, its text, and the line that it begins on."""

    page: Path
    line: int
    language: str
    text: str

    def __str__(self) -> str:
        return f"{self.page.relative_to(ROOT)}:{self.line}"


def prose(page: Path) -> str:
    """The text of a page without its fenced blocks, and without code in a line that looks like a link."""
    return re.sub(r"`[^`\n]*\]\([^`\n]*`", "", _BLOCK.sub("", page.read_text(encoding="utf-8")))


def blocks(page: Path) -> tuple[Block, ...]:
    """The fenced blocks of a page."""
    text = page.read_text(encoding="utf-8")
    return tuple(Block(page, text[: m.start()].count("\n") + 1, m[2], m[3]) for m in _BLOCK.finditer(text))
