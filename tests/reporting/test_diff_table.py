from __future__ import annotations

import io

import pytest
from rich.console import Console
from syrupy.assertion import SnapshotAssertion

from harness.diff import Diff, compare
from harness.reporting.changes import headline
from harness.reporting.diff_table import render_diff
from harness.verdict import summarise
from tests.sample_diffs import ROWS, hostile_diff, mixed_diff
from tests.sample_results import finding, result, results


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


def _mended_in_part() -> Diff:
    """A requirement that is still failing: one of its checks is mended, two fail as before."""
    row = ("AE-AUTH-1",)
    broken = [result(name, row, "fail", finding()) for name in ("first", "second", "third")]
    mended = [result("first", row, "pass"), *broken[1:]]
    return compare(summarise(results(broken, ROWS[:1])), summarise(results(mended, ROWS[:1])))


def test_check_that_fails_as_before_is_counted_and_not_shown_again() -> None:
    text = _rendered(_mended_in_part())
    assert "2 checks fail as before: the reports of the newer run show why" in text
    assert "title of second" not in text


def test_check_that_is_mended_is_told_so_though_its_requirement_fails_still() -> None:
    assert "mended AE-AUTH-1 (MUST): title of first" in _rendered(_mended_in_part())


@pytest.mark.parametrize(("width", "stated"), [(80, False), (100, True)])
def test_statements_are_left_out_where_they_have_no_room(width: int, stated: bool) -> None:
    assert ("without a valid key" in " ".join(_rendered(_mended_in_part(), width).split())) == stated
