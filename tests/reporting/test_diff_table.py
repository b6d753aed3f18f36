from __future__ import annotations

import io

import pytest
from rich.console import Console
from syrupy.assertion import SnapshotAssertion

from harness.diff import Diff
from harness.reporting.changes import headline
from harness.reporting.diff_table import render_diff
from tests.sample_diffs import hostile_diff, mixed_diff


def _rendered(diff: Diff, width: int = 100, encoding: str = "utf-8") -> str:
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding=encoding, newline="\n")
    render_diff(diff, Console(file=stream, width=width, color_system=None, _environ={}))
    stream.flush()
    return raw.getvalue().decode(encoding)


def test_view_of_a_whole_diff(snapshot: SnapshotAssertion) -> None:
    assert _rendered(mixed_diff()) == snapshot


def test_headline_comes_last() -> None:
    assert _rendered(mixed_diff(), 200).endswith(f"\n{headline(mixed_diff())}\n")


@pytest.mark.parametrize("encoding", ["utf-8", "ascii"])
def test_nothing_acts_or_hides(encoding: str) -> None:
    text = _rendered(hostile_diff(), encoding=encoding)
    assert not {"\x00", "\x1b", "\u202e", "\u2028", "\r"} & set(text)
    assert "[red]x[/red]" in text
