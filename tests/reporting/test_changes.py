from __future__ import annotations

import pytest

from harness.diff import CHANGES, Diff, compare
from harness.reporting.changes import about, changed, headline, told, verdicts
from harness.verdict import summarise
from tests.sample_diffs import mixed_diff
from tests.sample_results import exchange, finding, result, results, with_verdicts


@pytest.mark.parametrize(
    ("diff", "line"),
    [
        (compare(with_verdicts("pass"), with_verdicts("pass")), "no regression (1 unchanged)"),
        (compare(summarise(results()), summarise(results())), "no regression (no requirement)"),
        (
            compare(with_verdicts("pass", "pass", whole=2), with_verdicts("pass", whole=2)),
            "no regression (1 gone, 1 unchanged), in a part of the suite",
        ),
        (compare(with_verdicts("pass"), with_verdicts("fail")), "regressed: 1 that decides (1 regressed)"),
        (
            compare(with_verdicts("pass", "pass"), with_verdicts("fail", "error")),
            "regressed: 2 that decide (2 regressed)",
        ),
        (
            compare(with_verdicts("pass", level="MAY"), with_verdicts("fail", level="MAY")),
            "no regression that decides (1 regressed)",
        ),
        (
            compare(with_verdicts("pass"), with_verdicts("not-measured", require_all=True)),
            "regressed: 1 that decides (1 no longer measured)",
        ),
        (
            mixed_diff(),
            "regressed: 1 that decides (2 regressed, 1 still failing, 1 no longer measured, 1 mended, "
            "1 measured now, 1 new, 1 gone)",
        ),
    ],
    ids=["same", "empty", "part", "one", "two", "may", "unmeasured", "mixed"],
)
def test_headline_counts_what_changed(diff: Diff, line: str) -> None:
    assert headline(diff) == line


def test_gravest_changes_come_first_and_what_is_unchanged_is_left_out() -> None:
    order = [CHANGES.index(row.change) for row in changed(mixed_diff())]
    assert order == sorted(order)
    assert CHANGES.index("unchanged") not in order


def test_verdicts_tell_how_many_checks_passed() -> None:
    lines = {row.requirement.id: verdicts(row) for row in mixed_diff().rows}
    assert lines["AE-AUTH-1"] == ("pass 2/2", "fail 1/2")
    assert lines["AE-TURN-2"] == ("pass 1/1", "not there")
    assert lines["AE-TURN-3"] == ("not there", "fail 0/1")


def test_regression_is_told_by_what_came_after() -> None:
    row = next(row for row in mixed_diff().rows if row.requirement.id == "AE-AUTH-1")
    said = told(row.checks[0], mixed_diff())
    assert (said.old, said.new, said.of) == ("pass", "fail", "after")
    assert said.account is not None
    assert said.account.exchange == exchange(7)


def test_mending_is_told_by_what_came_before() -> None:
    row = next(row for row in mixed_diff().rows if row.requirement.id == "AE-AUTH-2")
    said = told(row.checks[0], mixed_diff())
    assert (said.old, said.new, said.of) == ("fail", "pass", "before")
    assert said.account is not None
    assert (said.account.lines[1], said.account.exchange) == (("came", "status 200"), exchange(3))


def test_check_that_fails_in_both_is_told_by_what_came_after() -> None:
    old = summarise(results([result("c", ("AE-A-1",), "fail", finding(came="before"))]))
    new = summarise(results([result("c", ("AE-A-1",), "fail", finding(came="after"))]))
    diff = compare(old, new)
    said = told(diff.rows[0].checks[0], diff)
    assert said.account is not None
    assert ("came", "after") in said.account.lines


def test_run_is_told_by_target_suite_parts_time_and_version() -> None:
    assert about(with_verdicts("pass")) == (
        "sample (agent_endpoint, opencode 1.18.33), 2026-11-29T12:00:00Z, turnproof 0.1.0"
    )
