"""The tables of `docs/troubleshooting.md`, from the source: `python -m harness.reporting.messages_page`.

A table stands between `<!-- from the source: NAME -->` and `<!-- end -->`; what is around them is written by people.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from harness.reporting.messages import FILLED_IN, Message, messages

PAGE = Path(__file__).parents[2] / "docs" / "troubleshooting.md"
SOURCE = Path(__file__).parents[1]

_BLOCK = re.compile(r"(<!-- from the source: (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)


def in_step(page: str) -> str:
    """The page with all of its tables as the source has them."""
    found = messages(SOURCE)
    return _BLOCK.sub(
        lambda block: f"{block[1]}{_table(each for each in found if each.error == block[2])}{block[3]}", page
    )


def _table(rows: Iterable[Message]) -> str:
    cells = [(_code(row.text), _plain(row.hint)) for row in rows]
    if not any(hint for _, hint in cells):
        return "".join(["| message |\n| --- |\n", *(f"| {message} |\n" for message, _ in cells)])
    lines = (f"| {message} | {hint} |\n" for message, hint in cells)
    return "".join(["| message | what to do |\n| --- | --- |\n", *lines])


def _code(text: str) -> str:
    words = " ".join(text.split()).replace("|", "\\|")
    fence = "``" if "`" in words else "`"
    return f"{fence}{words}{fence}"


def _plain(text: str) -> str:
    """A hint as prose; one that says no more than what is filled in is left out."""
    said = " ".join(text.split())
    return "" if said.strip(f"{FILLED_IN} .") == "" else re.sub(r"([|<>\[\]*_])", r"\\\1", said)


if __name__ == "__main__":
    PAGE.write_text(in_step(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
