from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft7Validator

from harness.cell import Plan, Shard, Share
from harness.reporting.ctrf import ctrf
from harness.results import Outcome
from harness.verdict import STATUSES, Status, Summary, summarise
from tests.sample_results import SIGNATURE, hostile_summary, mixed_summary, result, results, waiver, with_verdicts

SCHEMA = json.loads((Path(__file__).parent / "schemas" / "ctrf.schema.json").read_text(encoding="utf-8"))


def _tests(summary: Summary) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = ctrf(summary)["results"]["tests"]
    return found


def _counts(summary: Summary) -> dict[str, Any]:
    found: dict[str, Any] = ctrf(summary)["results"]["summary"]
    return found


@pytest.mark.parametrize(
    "summary",
    [mixed_summary(), hostile_summary(), summarise(results()), with_verdicts(*STATUSES, outcome=None)],
    ids=["mixed", "hostile", "empty", "every status"],
)
def test_report_fits_the_schema_of_the_format(summary: Summary) -> None:
    validator = Draft7Validator(SCHEMA, format_checker=Draft7Validator.FORMAT_CHECKER)
    assert [error.message for error in validator.iter_errors(json.loads(json.dumps(ctrf(summary))))] == []


@pytest.mark.parametrize(
    ("status", "found"),
    [
        ("pass", "passed"),
        ("fail", "failed"),
        ("inconclusive", "failed"),
        ("error", "failed"),
        ("not-run", "pending"),
        ("not-measured", "skipped"),
        ("not-applicable", "skipped"),
        ("waived", "skipped"),
    ],
)
def test_verdict_has_its_status_and_stays_as_it_was(status: Status, found: str) -> None:
    test = _tests(with_verdicts(status))[0]
    assert (test["status"], test["rawStatus"]) == (found, status)


def test_counts_are_those_of_the_tests() -> None:
    counts = _counts(with_verdicts("pass", "fail", "fail", "not-measured"))
    assert {name: counts[name] for name in ("tests", "passed", "failed", "skipped", "pending", "other")} == {
        "tests": 4,
        "passed": 1,
        "failed": 2,
        "skipped": 1,
        "pending": 0,
        "other": 0,
    }


@pytest.mark.parametrize("outcome", [None, "interrupted", "not-ready", "error"])
def test_run_that_cannot_be_judged_has_a_failed_test(outcome: Outcome | None) -> None:
    assert _counts(with_verdicts("pass", "not-run", outcome=outcome))["failed"] == 1


def test_stale_waiver_is_a_failed_test() -> None:
    summary = with_verdicts("pass", waivers=(waiver("AE-GROUP-1"),))
    assert _counts(summary)["failed"] == 1
    assert _counts(summary)["extra"]["verdict"] == "conforms, stale waivers"


def test_times_are_those_of_the_run() -> None:
    counts = _counts(with_verdicts("pass"))
    assert (counts["stop"] - counts["start"], counts["duration"]) == (9000, 9000)
    assert _tests(with_verdicts("pass"))[0]["duration"] == 250


def test_failure_has_its_account_and_requirement() -> None:
    test = _tests(with_verdicts("fail"))[0]
    assert test["trace"].startswith("expected: status 401")
    assert test["labels"] == {"requirements": ["AE-GROUP-1"], "levels": ["MUST"], "signature": SIGNATURE}
    assert test["suite"] == ["agent_endpoint", "GROUP"]


def test_check_is_known_by_its_id_and_file() -> None:
    test = _tests(summarise(results([result("suite/test_x.py::test_y", ("AE-A-1",), "pass")])))[0]
    assert (test["testId"], test["filePath"]) == ("suite/test_x.py::test_y", "suite/test_x.py")


def test_health_verdict_and_shard_are_told() -> None:
    share = Share("sha256:0", Shard(2, 5), Plan((), ()))
    report = ctrf(with_verdicts("pass", "fail", share=share))["results"]
    assert (report["environment"]["healthy"], report["environment"]["shardId"]) == (False, "2/5")
    assert (report["summary"]["extra"]["verdict"], report["summary"]["extra"]["exitCode"]) == ("does not conform", 1)
