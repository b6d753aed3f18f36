"""What is told of a text that a target wrote: its beginning, without the secrets of the run.

Secrets are replaced before the text is cut: part of one would not be known again, and in a replay, whose texts have
placeholders, the cut would fall elsewhere, so that nothing would confirm the finding.
"""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar

_conceal: ContextVar[Callable[[str], str]] = ContextVar("conceal", default=str)


def conceal_with(conceal: Callable[[str], str]) -> None:
    """Replace secrets by `conceal` from now on; `str` replaces none."""
    _conceal.set(conceal)


def beginning(text: str, characters: int = 300) -> str:
    """The first characters of a text."""
    return concealed(text)[:characters]


def concealed(text: str) -> str:
    """The text without secrets."""
    return _conceal.get()(text)
