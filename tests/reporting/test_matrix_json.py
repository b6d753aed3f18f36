from __future__ import annotations

import pytest

from harness.matrix.report import Report
from harness.reporting.matrix_json import json_matrix
from harness.reporting.matrix_words import matrix_headline
from tests.sample_matrix import hostile_matrix, matrix_of, mixed_matrix
from tests.sample_results import schema_errors


@pytest.mark.parametrize(
    "report", [mixed_matrix(), hostile_matrix(), matrix_of("lost")], ids=["mixed", "hostile", "lost"]
)
def test_object_fits_its_schema(report: Report) -> None:
    assert schema_errors("matrix_report.schema.json", json_matrix(report)) == []


def test_exit_code_and_headline_are_those_of_the_matrix() -> None:
    found = json_matrix(mixed_matrix())
    assert (found["exit_code"], found["headline"]) == (2, matrix_headline(mixed_matrix()))


def test_cell_has_its_verdicts_or_a_reason() -> None:
    first, _, lost, _ = json_matrix(mixed_matrix())["comparisons"][0]["cells"]
    assert (first["run"], first["reason"]) == ("run of 1.0.0", None)
    assert first["verdicts"] == {"KC-A-1": "pass", "KC-A-2": "pass"}
    assert (lost["run"], lost["verdicts"]) == (None, {})
    assert lost["reason"].startswith("the registry has no kilo@1.2.0")


def test_step_has_what_changed() -> None:
    first, second = json_matrix(mixed_matrix())["comparisons"][0]["steps"]
    assert first["verdicts"] == []
    assert first["behaviour"] == [
        {"requirement": "KC-A-1", "check": "title of c1", "before": "1 call", "after": "2 calls", "exchange": 7}
    ]
    assert second["verdicts"] == [{"requirement": "KC-A-2", "change": "regressed", "old": "pass", "new": "fail"}]
    assert second["behaviour"] is None
