from __future__ import annotations

from typing import Any

import pytest

from harness.reporting.headline import headline
from harness.reporting.json_summary import json_summary
from harness.results import Outcome
from harness.verdict import STATUSES, Summary, summarise
from tests.sample_results import (
    SIGNATURE,
    exchange,
    finding,
    hostile_summary,
    result,
    results,
    schema_errors,
    waiver,
    with_verdicts,
)


@pytest.mark.parametrize(
    "summary",
    [
        with_verdicts(*STATUSES, outcome=None),
        with_verdicts("pass", "fail", strict=True, require_all=True),
        summarise(results()),
        hostile_summary(),
    ],
    ids=["every status", "options", "empty", "hostile"],
)
def test_object_fits_its_schema(summary: Summary) -> None:
    assert schema_errors("summary.schema.json", json_summary(summary)) == []


@pytest.mark.parametrize("outcome", [None, "finished", "interrupted", "not-ready", "error"])
def test_exit_code_and_headline_are_those_of_the_run(outcome: Outcome | None) -> None:
    summary = with_verdicts("pass", "fail", outcome=outcome)
    found = json_summary(summary)
    assert (found["exit_code"], found["headline"], found["outcome"]) == (summary.exit_code, headline(summary), outcome)


def test_requirement_has_its_verdict_and_checks() -> None:
    checks = [result("p", ("AE-A-1",), "pass"), result("n", ("AE-A-1",), "not-measured")]
    assert json_summary(summarise(results(checks)))["requirements"] == [
        {
            "id": "AE-A-1",
            "level": "MUST",
            "statement": "The statement of AE-A-1.",
            "sources": ["A"],
            "capability": None,
            "group": "A",
            "verdict": "pass",
            "decides": False,
            "checks": ["p", "n"],
            "unmeasured": ["n"],
        }
    ]


def test_check_has_its_finding_and_exchanges() -> None:
    failed = result("f", ("AE-A-1",), "fail", finding(2))
    assert json_summary(summarise(results([failed], exchanges=[exchange(2)])))["checks"] == [
        {
            "check": "f",
            "title": "title of f",
            "requirements": ["AE-A-1"],
            "verdict": "fail",
            "decides": True,
            "duration": 0.25,
            "reason": None,
            "finding": {
                "expected": "status 401",
                "came": "status 404",
                "mend": "Check the key before the model.",
                "exchange": 2,
            },
            "signature": SIGNATURE,
            "exchanges": [2],
            "waivers": [],
            "objection": None,
        }
    ]


@pytest.mark.parametrize("change", [{"more": 1}, {"exit_code": 7}, {"schema": 2}, {"musts": {}}])
def test_other_object_breaks_the_schema(change: dict[str, Any]) -> None:
    assert schema_errors("summary.schema.json", {**json_summary(with_verdicts("pass")), **change})


def test_waivers_are_told_with_what_they_came_to() -> None:
    told = json_summary(with_verdicts("pass", "waived"))
    assert [(entry["requirement"], entry["standing"]) for entry in told["waivers"]] == [("AE-GROUP-2", "in-force")]
    assert [(check["verdict"], check["decides"], check["waivers"]) for check in told["checks"]] == [
        ("pass", False, []),
        ("waived", False, [0]),
    ]
    assert (told["musts"]["waived"], told["verdicts"]["waived"]) == (1, 1)
    assert schema_errors("summary.schema.json", told) == []


def test_waiver_that_does_not_hold_is_told_with_its_check() -> None:
    told = json_summary(with_verdicts("pass", "fail", waivers=(waiver("AE-GROUP-2", until="2026-01-01"),)))
    assert told["waivers"][0]["standing"] == "ran-out"
    assert told["checks"][1]["objection"] == "the waiver of Jo ran out on 2026-01-01"
    assert schema_errors("summary.schema.json", told) == []
