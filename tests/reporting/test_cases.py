from __future__ import annotations

import pytest

from harness.reporting.cases import Case, cases
from harness.reporting.junit import junit
from harness.results import Outcome
from harness.verdict import STATUSES, Status, Summary, summarise
from tests.sample_results import (
    HOSTILE,
    SIGNATURE,
    hostile_summary,
    requirement,
    result,
    results,
    waiver,
    with_verdicts,
)


def _one(summary: Summary) -> Case:
    return cases(summary)[0]


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        ("pass", "passed"),
        ("fail", "failure"),
        ("inconclusive", "failure"),
        ("error", "error"),
        ("not-run", "error"),
        ("not-measured", "skipped"),
        ("not-applicable", "skipped"),
        ("waived", "skipped"),
    ],
)
def test_verdict_of_a_must_has_its_kind(status: Status, kind: str) -> None:
    assert _one(with_verdicts(status)).kind == kind


def test_every_status_is_a_case_with_a_verdict() -> None:
    assert [case.verdict for case in cases(with_verdicts(*STATUSES, outcome=None))][: len(STATUSES)] == list(STATUSES)


def test_failure_says_requirement_and_account() -> None:
    case = _one(with_verdicts("fail"))
    assert case.message == "AE-GROUP-1: status 404"
    assert case.details.startswith("expected: status 401\ncame:     status 404\nmend:")


def test_waived_failure_says_by_whom_and_keeps_its_account() -> None:
    case = _one(with_verdicts("waived", "pass"))
    assert case.message.startswith("waived until 2026-12-31 by Jo")
    assert case.details.startswith("expected: status 401")
    assert case.signature == SIGNATURE


def test_stale_waiver_is_a_failure() -> None:
    last = cases(with_verdicts("pass", waivers=(waiver("AE-GROUP-1"),)))[-1]
    assert (last.group, last.kind, last.requirements) == ("waivers", "failure", ("AE-GROUP-1",))


def test_failure_that_does_not_decide_is_skipped_with_its_account() -> None:
    case = _one(with_verdicts("fail", level="SHOULD"))
    assert (case.kind, case.message) == ("skipped", "fail, but does not decide (SHOULD): status 404")
    assert case.details


@pytest.mark.parametrize("outcome", [None, "interrupted", "not-ready", "error", "finished"])
def test_run_that_cannot_be_judged_is_an_error(outcome: Outcome | None) -> None:
    last = cases(summarise(results(outcome=outcome)))[-1]
    assert (last.group, last.kind, last.check) == ("run", "error", None)


@pytest.mark.parametrize(("require_all", "kind"), [(True, "failure"), (False, "skipped")])
def test_requirement_without_a_check_is_a_case(require_all: bool, kind: str) -> None:
    rows = [requirement("AE-A-1"), requirement("AE-A-2")]
    summary = summarise(results([result("a", ("AE-A-1",), "pass")], rows, require_all=require_all))
    assert [(case.kind, case.requirements) for case in cases(summary)] == [
        ("passed", ("AE-A-1",)),
        (kind, ("AE-A-2",)),
    ]


@pytest.mark.parametrize("require_all", [True, False])
@pytest.mark.parametrize(
    "verdicts",
    [
        ("pass",),
        ("pass", "waived"),
        ("waived",),
        ("pass", "fail"),
        ("pass", "not-measured"),
        ("not-measured",),
        ("pass", "not-run"),
        ("fail",),
        (),
    ],
)
def test_cases_are_red_exactly_when_the_exit_code_is(verdicts: tuple[Status, ...], require_all: bool) -> None:
    summary = with_verdicts(*verdicts, require_all=require_all)
    assert any(case.kind in ("failure", "error") for case in cases(summary)) == (summary.exit_code != 0)


def test_hostile_text_is_in_one_line_and_bounded() -> None:
    for case in cases(hostile_summary()):
        assert (case.name + case.message).isprintable()
        assert len(case.message) < 400
    assert "\x1b" not in "".join(case.details for case in cases(hostile_summary()))


def test_names_are_told_apart() -> None:
    sample = results([result("a", ("AE-A-1",), "pass"), result("b", ("AE-A-1",), "pass")])
    same = tuple(type(planned)(planned.check, planned.requirements, HOSTILE) for planned in sample.header.planned)
    header = type(sample.header)(**{**vars(sample.header), "planned": same})
    names = [case.name for case in cases(summarise(type(sample)(header, sample.checks, footer=sample.footer)))]
    assert len(set(names)) == 2


def test_junit_has_each_case() -> None:
    summary = with_verdicts(*STATUSES, outcome=None)
    assert junit(summary).count("<testcase ") == len(cases(summary))
