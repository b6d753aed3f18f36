from __future__ import annotations

from syrupy.assertion import SnapshotAssertion

from harness.diff import compare
from harness.reporting.blocks import LIMIT
from harness.reporting.diff_markdown import diff_markdown
from harness.verdict import summarise
from tests.sample_diffs import hostile_diff, mixed_diff
from tests.sample_results import exchange, finding, result, results, with_verdicts


def test_document_as_a_whole(snapshot: SnapshotAssertion) -> None:
    assert diff_markdown(mixed_diff()) == snapshot


def test_nothing_acts_or_hides() -> None:
    text = diff_markdown(hostile_diff())
    assert not {"\x00", "\x1b", "\u202e", "\u2028", "\r"} & set(text)
    assert "<b>" not in [line for line in text.split("\n") if line.startswith("|")]


def test_runs_that_agree_have_no_table_of_changes() -> None:
    text = diff_markdown(compare(with_verdicts("pass"), with_verdicts("pass")))
    assert text.startswith("# no regression (1 unchanged)\n")
    assert "| change |" not in text


def test_document_always_fits_a_comment_and_says_what_is_left_out() -> None:
    ids = [f"AE-A-{number}" for number in range(150)]
    large = exchange(7, chunks=[b"x" * 5000])
    old = summarise(results([result(id_, (id_,), "pass") for id_ in ids]))
    new = summarise(results([result(id_, (id_,), "fail", finding(7)) for id_ in ids], exchanges=[large]))
    text = diff_markdown(compare(old, new))
    assert len(text.encode()) < LIMIT
    assert "> To fit into a comment, " in text
