from __future__ import annotations

import pytest

from harness.diff import CHANGES, Diff, compare
from harness.reporting.changes import headline
from harness.reporting.diff_json import json_diff
from harness.verdict import summarise
from tests.sample_diffs import hostile_diff, mixed_diff
from tests.sample_results import results, schema_errors, with_verdicts


@pytest.mark.parametrize(
    "diff",
    [mixed_diff(), hostile_diff(), compare(summarise(results()), summarise(results()))],
    ids=["mixed", "hostile", "empty"],
)
def test_object_fits_its_schema(diff: Diff) -> None:
    assert schema_errors("diff.schema.json", json_diff(diff)) == []


def test_exit_code_headline_and_counts_are_those_of_the_diff() -> None:
    diff = mixed_diff()
    found = json_diff(diff)
    assert (found["exit_code"], found["headline"]) == (1, headline(diff))
    assert found["changes"] == {change: len(diff.of(change)) for change in CHANGES}


def test_runs_are_told_apart() -> None:
    found = json_diff(mixed_diff())
    assert (found["old"]["run"], found["new"]["run"]) == ("r1", "r2")
    assert (found["old"]["exit_code"], found["new"]["turnproof"]) == (1, "0.2.0")


def test_requirement_has_its_change_and_the_checks_that_tell_of_it() -> None:
    found = {row["id"]: row for row in json_diff(mixed_diff())["requirements"]}
    row = found["AE-AUTH-1"]
    assert (row["change"], row["decides"], row["old"], row["new"]) == ("regressed", True, "pass", "fail")
    (check,) = row["checks"]
    assert check["old"] == {"verdict": "pass", "reason": None, "finding": None, "exchanges": []}
    assert check["new"]["finding"]["exchange"] == 7
    assert found["AE-TURN-3"]["old"] is None
    assert found["AE-TURN-2"]["new"] is None


def test_requirement_without_a_change_is_there() -> None:
    (row,) = json_diff(compare(with_verdicts("pass"), with_verdicts("pass")))["requirements"]
    assert (row["change"], row["checks"]) == ("unchanged", [])
