from __future__ import annotations

from syrupy.assertion import SnapshotAssertion

from harness.reporting.blocks import LIMIT
from harness.reporting.matrix_markdown import matrix_markdown
from harness.verdict import Status
from tests.sample_matrix import hostile_matrix, matrix_of, mixed_matrix
from tests.sample_results import with_verdicts

FAILING: list[Status] = ["fail"] * 200


def test_document_as_a_whole(snapshot: SnapshotAssertion) -> None:
    assert matrix_markdown(mixed_matrix()) == snapshot


def test_nothing_acts_or_hides() -> None:
    text = matrix_markdown(hostile_matrix())
    assert not {"\x00", "\x1b", "\u202e", "\u2028", "\r"} & set(text)


def test_document_always_fits() -> None:
    large = [with_verdicts(*FAILING) for _ in range(4)]
    assert len(matrix_markdown(matrix_of(*large)).encode()) < LIMIT


def test_matrix_of_which_nothing_could_be_run_says_so_for_each_version() -> None:
    text = matrix_markdown(matrix_of("lost", "gone"))
    assert text.count("could not be run (exit code 4)") == 2
