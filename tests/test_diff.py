from __future__ import annotations

import random
from pathlib import Path
from typing import get_args

import pytest

from harness.diff import CHANGES, Change, Diff, compare, run_in
from harness.errors import UsageError
from harness.requirements import Level
from harness.results import Verdict
from harness.verdict import STATUSES, Status, Summary, summarise
from tests.sample_results import finding, requirement, result, results, with_verdicts, write

NOT_OK: tuple[Verdict, ...] = ("fail", "inconclusive", "error")
MADE = get_args(Verdict)


def run(level: Level = "MUST", strict: bool = False, require_all: bool = False, **checks: Verdict) -> Summary:
    """A run of one requirement, AE-A-1, with these checks."""
    made = [
        result(name, ("AE-A-1",), verdict, finding() if verdict == "fail" else None) for name, verdict in checks.items()
    ]
    return summarise(results(made, [requirement("AE-A-1", level)], strict=strict, require_all=require_all))


def change(old: Summary, new: Summary) -> tuple[Change, bool]:
    (row,) = compare(old, new).rows
    return row.change, row.decides


@pytest.mark.parametrize("verdict", NOT_OK)
def test_must_that_passed_and_is_broken_is_a_regression(verdict: Verdict) -> None:
    found = compare(run(c="pass"), run(c=verdict))
    assert [(row.change, row.decides) for row in found.rows] == [("regressed", True)]
    assert found.exit_code == 1


@pytest.mark.parametrize("verdict", NOT_OK)
def test_must_that_was_broken_and_passes_is_mended(verdict: Verdict) -> None:
    assert change(run(c=verdict), run(c="pass")) == ("mended", False)


@pytest.mark.parametrize("old", NOT_OK)
@pytest.mark.parametrize("new", NOT_OK)
def test_must_that_is_broken_in_both_is_still_failing(old: Verdict, new: Verdict) -> None:
    assert change(run(c=old), run(c=new)) == ("still failing", False)


def test_check_that_held_and_fails_is_a_regression_of_a_requirement_that_failed_before() -> None:
    assert change(run(a="fail", b="pass"), run(a="fail", b="fail")) == ("regressed", True)


def test_check_that_is_new_and_fails_is_no_regression_of_a_requirement_that_failed_before() -> None:
    assert change(run(a="fail"), run(a="fail", b="fail")) == ("still failing", False)


def test_check_that_is_new_and_fails_is_a_regression_of_a_requirement_that_was_kept() -> None:
    assert change(run(a="pass"), run(a="pass", b="fail")) == ("regressed", True)


@pytest.mark.parametrize("level", ["SHOULD", "MAY"])
def test_what_no_must_says_regresses_without_deciding(level: Level) -> None:
    assert change(run(level, c="pass"), run(level, c="fail")) == ("regressed", False)


def test_should_decides_where_the_newer_run_is_strict() -> None:
    assert change(run("SHOULD", c="pass"), run("SHOULD", c="fail", strict=True)) == ("regressed", True)
    assert change(run("SHOULD", c="pass", strict=True), run("SHOULD", c="fail")) == ("regressed", False)


@pytest.mark.parametrize("verdict", ["not-measured", "not-applicable"])
def test_what_was_kept_and_cannot_be_asked_is_no_longer_measured(verdict: Verdict) -> None:
    assert change(run(c="pass"), run(c=verdict)) == ("no longer measured", False)


def test_what_was_broken_and_cannot_be_asked_is_not_called_mended() -> None:
    assert change(run(c="fail"), run(c="not-measured")) == ("no longer measured", False)


def test_requirement_that_passes_in_fewer_parts_is_no_longer_measured() -> None:
    assert change(run(a="pass", b="pass"), run(a="pass", b="not-measured")) == ("no longer measured", False)


def test_what_is_no_longer_measured_decides_where_the_newer_run_requires_all() -> None:
    assert change(run(c="pass"), run(c="not-measured", require_all=True)) == ("no longer measured", True)


@pytest.mark.parametrize("verdict", ["pass", "fail"])
def test_what_can_be_asked_for_the_first_time_is_measured_now(verdict: Verdict) -> None:
    assert change(run(c="not-measured"), run(c=verdict)) == ("measured now", False)


@pytest.mark.parametrize("verdict", MADE)
def test_same_verdict_of_the_same_check_never_decides(verdict: Verdict) -> None:
    assert compare(run(c=verdict), run(c=verdict)).exit_code == 0


def test_failure_that_a_waiver_accepts_regresses_without_deciding() -> None:
    assert change(with_verdicts("pass"), with_verdicts("waived")) == ("regressed", False)


def test_waived_failure_that_fails_differently_is_a_regression() -> None:
    assert change(with_verdicts("waived"), with_verdicts("fail")) == ("regressed", True)


def test_waived_failure_that_passes_is_mended() -> None:
    assert change(with_verdicts("waived"), with_verdicts("pass")) == ("mended", False)


@pytest.mark.parametrize("old", ["waived", "fail"])
def test_failure_that_is_waived_now_is_still_failing(old: Status) -> None:
    assert change(with_verdicts(old), with_verdicts("waived")) == ("still failing", False)


def test_every_status_has_a_change_to_every_other() -> None:
    for old in STATUSES:
        for new in STATUSES:
            if "not-run" not in (old, new):
                assert change(with_verdicts(old), with_verdicts(new))[0] in CHANGES


def test_requirement_of_one_run_alone_is_new_or_gone() -> None:
    both, one = with_verdicts("pass", "fail"), with_verdicts("pass")
    assert [(row.change, row.decides) for row in compare(one, both).rows] == [("unchanged", False), ("new", False)]
    assert [(row.change, row.decides) for row in compare(both, one).rows] == [("unchanged", False), ("gone", False)]


def test_level_is_that_of_the_newer_run() -> None:
    assert change(run("SHOULD", c="pass"), run("MUST", c="fail")) == ("regressed", True)


def test_checks_that_differ_or_fail_tell_of_a_change() -> None:
    (row,) = compare(run(a="pass", b="fail", c="pass"), run(a="fail", b="fail", c="pass", d="pass")).rows
    assert [check.title for check in row.checks] == ["title of a", "title of b", "title of d"]


def test_check_that_is_gone_is_told_by_the_older_run() -> None:
    (row,) = compare(run(a="fail", b="fail"), run(a="fail")).rows
    assert [(check.title, check.new is None) for check in row.checks] == [("title of a", False), ("title of b", True)]


def test_new_requirement_is_told_by_what_fails_of_it() -> None:
    new = compare(summarise(results()), run(a="pass", b="fail")).rows[0]
    assert [check.title for check in new.checks] == ["title of b"]


@pytest.mark.parametrize("outcome", [None, "interrupted", "not-ready", "error"])
def test_run_that_did_not_finish_is_not_compared(outcome: str | None) -> None:
    torn, whole = with_verdicts("pass", outcome=outcome), with_verdicts("pass")
    with pytest.raises(UsageError, match="the older run did not finish"):
        compare(torn, whole)
    with pytest.raises(UsageError, match="the newer run did not finish"):
        compare(whole, torn)


def test_runs_of_different_suites_are_not_compared() -> None:
    with pytest.raises(UsageError, match="older run is of suite agent_endpoint, the newer of kilo_cli"):
        compare(with_verdicts("pass"), with_verdicts("pass", suite="kilo_cli"))


def test_run_is_found_by_its_file_and_by_its_folder(tmp_path: Path) -> None:
    write(results([result("c", ("AE-A-1",), "pass")]), tmp_path / "results.jsonl")
    assert run_in(tmp_path) == run_in(tmp_path / "results.jsonl")


@pytest.mark.parametrize("name", ["nothing", "."])
def test_run_that_is_not_there_is_a_usage_error(tmp_path: Path, name: str) -> None:
    with pytest.raises(UsageError, match="cannot be read"):
        run_in(tmp_path / name)


def arbitrary_run(chance: random.Random) -> Summary:
    """A run of some of six requirements, each with some of three checks and any verdict."""
    ids = [f"AE-A-{number}" for number in range(6) if chance.random() < 0.8]
    made = [
        result(f"{id_} {letter}", (id_,), chance.choice(MADE))
        for id_ in ids
        for letter in "abc"
        if chance.random() < 0.7
    ]
    levels: list[Level] = ["MUST", "SHOULD", "MAY"]
    listed = {id_ for each in made for id_ in each.requirements}
    rows = [requirement(id_, chance.choice(levels)) for id_ in ids if id_ in listed]
    return summarise(results(made, rows, strict=chance.random() < 0.5, require_all=chance.random() < 0.5))


def verdicts(summary: Summary) -> dict[str, Status]:
    return {row.requirement.id: row.verdict for row in summary.rows}


def arbitrary_diffs(count: int) -> list[Diff]:
    chance = random.Random(5)
    return [compare(arbitrary_run(chance), arbitrary_run(chance)) for _ in range(count)]


DIFFS = arbitrary_diffs(400)


def test_every_requirement_of_either_run_is_told_once() -> None:
    for diff in DIFFS:
        told = [row.requirement.id for row in diff.rows]
        assert sorted(told) == sorted({*verdicts(diff.old), *verdicts(diff.new)})
        assert sum(len(diff.of(change)) for change in CHANGES) == len(diff.rows)


def test_exit_code_is_1_exactly_where_something_decides_and_what_decides_counts_in_the_newer_run() -> None:
    for diff in DIFFS:
        deciding = [row for row in diff.rows if row.decides]
        assert diff.exit_code == (1 if deciding else 0)
        for row in deciding:
            assert row.new is not None
            assert diff.new.row_decides(row.new)
            assert row.change in ("regressed", "no longer measured")
            assert diff.new.exit_code != 0


def test_must_that_passed_and_fails_always_decides() -> None:
    seen = 0
    for diff in DIFFS:
        for row in diff.rows:
            if row.old and row.new and row.new.requirement.level == "MUST":
                lost = row.old.verdict == "pass" and row.new.verdict in NOT_OK
                seen += lost
                assert not lost or row.decides
    assert seen > 10


def test_what_is_unchanged_or_mended_is_never_broken_now() -> None:
    for diff in DIFFS:
        for row in (*diff.of("unchanged"), *diff.of("mended")):
            assert row.new is not None
            assert row.new.verdict not in NOT_OK


def test_run_against_itself_has_neither_regression_nor_mending() -> None:
    chance = random.Random(6)
    for _ in range(50):
        own = arbitrary_run(chance)
        assert {row.change for row in compare(own, own).rows} <= {"unchanged", "still failing"}


def test_what_regresses_one_way_is_mended_the_other_way() -> None:
    for diff in DIFFS:
        back = {row.requirement.id: row.change for row in compare(diff.new, diff.old).rows}
        for row in diff.of("regressed"):
            if row.old and row.old.verdict == "pass":
                assert back[row.requirement.id] == "mended"
        for row in diff.of("new"):
            assert back[row.requirement.id] == "gone"


def test_every_change_is_among_the_arbitrary_ones() -> None:
    assert {row.change for diff in DIFFS for row in diff.rows} == set(CHANGES)
