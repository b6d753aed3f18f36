from __future__ import annotations

import io

import pytest
from rich.console import Console
from syrupy.assertion import SnapshotAssertion

from harness.matrix.report import Report
from harness.reporting.matrix_table import render_matrix
from harness.reporting.matrix_words import matrix_headline
from tests.sample_matrix import hostile_matrix, matrix_of, mixed_matrix


def _rendered(report: Report, width: int = 100, encoding: str = "utf-8") -> str:
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding=encoding, newline="\n")
    render_matrix(report, Console(file=stream, width=width, color_system=None, _environ={}))
    stream.flush()
    return raw.getvalue().decode(encoding)


def test_view_of_a_whole_matrix(snapshot: SnapshotAssertion) -> None:
    assert _rendered(mixed_matrix()) == snapshot


def test_headline_comes_last() -> None:
    assert _rendered(mixed_matrix()).endswith(f"\n{matrix_headline(mixed_matrix())}\n")


def test_matrix_of_which_nothing_could_be_run_says_why() -> None:
    assert "0.0.0: could not be run (exit code 4): lost" in _rendered(matrix_of("lost"))


@pytest.mark.parametrize("encoding", ["utf-8", "ascii"])
def test_nothing_acts_or_hides(encoding: str) -> None:
    assert not {"\x00", "\x1b", "\u202e", "\u2028", "\r"} & set(_rendered(hostile_matrix(), encoding=encoding))
