from __future__ import annotations

import pytest

from harness.errors import UsageError
from harness.results import Planned, Verdict
from harness.verdict import Row, Status, summarise
from tests.sample_results import requirement, result, results, waiver, with_verdicts


def _row(*verdicts: Status) -> Row:
    checks = [
        Planned(f"c{number}", ("AE-AUTH-1",), "t")
        if verdict == "not-run"
        else result(f"c{number}", ("AE-AUTH-1",), "fail" if verdict == "waived" else verdict)
        for number, verdict in enumerate(verdicts)
    ]
    waived = [f"c{number}" for number, verdict in enumerate(verdicts) if verdict == "waived"]
    waivers = tuple(waiver("AE-AUTH-1", check=check, covers=(check,)) for check in waived)
    return summarise(results(checks, waivers=waivers)).rows[0]


@pytest.mark.parametrize(
    ("checks", "verdict"),
    [
        (("pass", "pass"), "pass"),
        (("pass", "not-measured"), "pass"),
        (("pass", "not-applicable"), "pass"),
        (("not-measured", "not-applicable"), "not-measured"),
        (("not-applicable",), "not-applicable"),
        (("pass", "inconclusive"), "inconclusive"),
        (("inconclusive", "fail", "pass"), "fail"),
        (("fail", "error"), "error"),
        (("pass", "not-run"), "not-run"),
        (("not-measured", "not-run"), "not-run"),
        (("not-run", "inconclusive"), "inconclusive"),
        (("pass", "waived"), "waived"),
        (("waived", "not-measured"), "waived"),
        (("waived", "fail"), "fail"),
        (("waived", "inconclusive"), "inconclusive"),
    ],
)
def test_requirement_has_the_worst_verdict_of_its_checks(checks: tuple[Status, ...], verdict: Status) -> None:
    assert _row(*checks).verdict == verdict


def test_passing_requirement_names_its_unmeasured_checks() -> None:
    assert [checked.check for checked in _row("pass", "not-measured").unmeasured] == ["c1"]


def test_check_counts_for_every_requirement_it_claims() -> None:
    summary = summarise(results([result("c", ("AE-AUTH-1", "AE-AUTH-2"), "fail")]))
    assert [row.verdict for row in summary.rows] == ["fail", "fail"]


def test_worse_of_two_results_of_one_check_counts() -> None:
    both = results([result("c", ("AE-AUTH-1",), "fail"), result("c", ("AE-AUTH-1",), "pass")])
    assert summarise(both).rows[0].verdict == "fail"


def test_result_that_was_not_planned_counts() -> None:
    sample = results([result("c", ("AE-AUTH-1",), "pass")])
    added = (*sample.checks, result("d", ("AE-AUTH-1",), "fail"))
    assert summarise(type(sample)(sample.header, added, footer=sample.footer)).exit_code == 1


def test_requirement_without_a_check_is_not_run() -> None:
    assert summarise(results(requirements=[requirement("AE-AUTH-1")])).rows[0].verdict == "not-run"


def test_requirement_without_a_check_of_an_undeclared_capability_is_not_applicable() -> None:
    summary = summarise(results(requirements=[requirement("AE-RATE-1", capability="rate_cap")]))
    assert summary.rows[0].verdict == "not-applicable"


def test_check_of_an_unknown_requirement_is_refused() -> None:
    with pytest.raises(UsageError, match="AE-AUTH-9"):
        summarise(results([result("c", ("AE-AUTH-9",), "fail")], requirements=[requirement("AE-AUTH-1")]))


def test_musts_are_counted_without_those_that_do_not_apply() -> None:
    musts = with_verdicts("pass", "fail", "inconclusive", "not-measured", "not-applicable").musts
    assert (musts.applicable, musts.measured, musts.passed, musts.in_part) == (4, 2, 1, 0)


def test_should_is_not_counted_among_the_musts() -> None:
    assert with_verdicts("pass", level="SHOULD").musts.applicable == 0


def test_verdicts_are_counted_with_those_that_none_has() -> None:
    counts = with_verdicts("pass", "pass", "fail").verdicts
    assert (counts["pass"], counts["fail"], counts["error"]) == (2, 1, 0)


@pytest.mark.parametrize(
    ("verdicts", "code"),
    [
        (("pass",), 0),
        (("pass", "not-measured", "not-applicable"), 0),
        (("pass", "fail"), 1),
        (("pass", "inconclusive"), 1),
        (("pass", "waived"), 0),
        (("fail", "fail"), 1),
        (("fail", "not-measured", "inconclusive"), 1),
        (("waived", "fail"), 1),
        (("waived",), 6),
        (("inconclusive", "not-measured"), 6),
        (("not-measured",), 6),
        (("not-applicable",), 6),
        ((), 6),
        (("pass", "fail", "error"), 4),
        (("error",), 4),
        (("pass", "not-run"), 130),
    ],
)
def test_exit_code_of_a_run_that_finished(verdicts: tuple[Status, ...], code: int) -> None:
    assert with_verdicts(*verdicts).exit_code == code


@pytest.mark.parametrize("verdict", ["pass", "fail", "error"])
def test_file_without_a_footer_is_unfinished_whatever_it_holds(verdict: Verdict) -> None:
    assert with_verdicts(verdict, outcome=None).exit_code == 130


def test_interruption_comes_before_errors() -> None:
    assert with_verdicts("error", outcome="interrupted").exit_code == 130


def test_error_of_the_run_comes_before_everything_else() -> None:
    assert with_verdicts("pass", "not-run", outcome="error").exit_code == 4


def test_target_that_is_not_ready_has_its_own_code() -> None:
    assert with_verdicts("not-run", outcome="not-ready").exit_code == 3


@pytest.mark.parametrize(("strict", "code"), [(False, 0), (True, 1)])
def test_should_decides_only_when_strict(strict: bool, code: int) -> None:
    passed = result("p", ("AE-A-1",), "pass")
    failed = result("f", ("AE-A-2",), "fail")
    rows = [requirement("AE-A-1"), requirement("AE-A-2", "SHOULD")]
    assert summarise(results([passed, failed], rows, strict=strict)).exit_code == code


def test_may_never_decides() -> None:
    rows = [requirement("AE-A-1"), requirement("AE-A-2", "MAY")]
    checks = [result("p", ("AE-A-1",), "pass"), result("f", ("AE-A-2",), "fail")]
    assert summarise(results(checks, rows, strict=True, require_all=True)).exit_code == 0


def test_require_all_counts_an_unmeasured_requirement() -> None:
    assert with_verdicts("pass", "not-measured", require_all=True).exit_code == 1


def test_require_all_counts_an_unmeasured_check_of_a_passing_requirement() -> None:
    checks = [result("p", ("AE-A-1",), "pass"), result("n", ("AE-A-1",), "not-measured")]
    assert summarise(results(checks, require_all=True)).exit_code == 1


def test_require_all_counts_a_requirement_without_a_check() -> None:
    rows = [requirement("AE-A-1"), requirement("AE-A-2")]
    assert summarise(results([result("p", ("AE-A-1",), "pass")], rows, require_all=True)).exit_code == 1


def test_require_all_does_not_count_what_does_not_apply() -> None:
    assert with_verdicts("pass", "not-applicable", require_all=True).exit_code == 0


def test_require_all_does_not_count_an_unmeasured_should() -> None:
    rows = [requirement("AE-A-1"), requirement("AE-A-2", "SHOULD")]
    checks = [result("p", ("AE-A-1",), "pass"), result("n", ("AE-A-2",), "not-measured")]
    assert summarise(results(checks, rows, require_all=True)).exit_code == 0
