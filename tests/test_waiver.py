from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from harness.errors import UsageError
from harness.results import CheckResult, Results, Verdict, read
from harness.verdict import Summary, summarise
from harness.waiver import Standing, Waiver, explained
from tests.sample_results import finding, requirement, result, results, schema_errors, waiver, write

ID, OTHER = "AE-AUTH-1", "AE-AUTH-2"
LAST_DAY = "2026-11-29"
"""The day on which sample runs begin."""


def judged(
    *waivers: Waiver, verdict: Verdict = "fail", claims: tuple[str, ...] = (ID,), **changes: Any
) -> tuple[Summary, CheckResult]:
    """A run of two checks: one passes, and `c` ends with `verdict`."""
    ended = result("c", claims, verdict, finding() if verdict == "fail" else None)
    return summarise(results([result("p", ("AE-P-1",), "pass"), ended], waivers=waivers, **changes)), ended


def covering(**differing: Any) -> Waiver:
    return waiver(ID, **{"covers": ("c",), **differing})


def standings(summary: Summary) -> list[Standing]:
    return [stands for _, stands in summary.waivers]


def test_failure_with_the_signature_of_a_waiver_is_waived() -> None:
    summary, _ = judged(covering())
    assert [checked.status for checked in summary.checks] == ["pass", "waived"]
    assert (standings(summary), summary.exit_code, summary.musts.waived) == (["in-force"], 0, 1)


def test_failure_with_another_signature_fails_and_says_both() -> None:
    summary, ended = judged(covering(signature="f" * 16))
    assert (standings(summary), summary.exit_code, summary.checks[1].status) == (["different"], 1, "fail")
    assert "f" * 16 in summary.checks[1].objection
    assert str(ended.signature) in summary.checks[1].objection


@pytest.mark.parametrize(("until", "code"), [(LAST_DAY, 0), ("2026-11-28", 1)])
def test_waiver_holds_to_the_end_of_its_last_day(until: str, code: int) -> None:
    assert judged(covering(until=until))[0].exit_code == code


def test_failure_whose_waiver_ran_out_says_so() -> None:
    summary, _ = judged(covering(until="2026-01-01"))
    assert standings(summary) == ["ran-out"]
    assert summary.checks[1].objection == "the waiver of Jo ran out on 2026-01-01"


@pytest.mark.parametrize("verdict", ["pass", "not-applicable"])
@pytest.mark.parametrize("until", [LAST_DAY, "2026-01-01"])
def test_waiver_of_what_no_longer_fails_is_stale(verdict: Verdict, until: str) -> None:
    summary, _ = judged(covering(until=until), verdict=verdict)
    assert (standings(summary), summary.exit_code) == (["not-failing"], 5)


def test_waiver_that_names_nothing_is_stale() -> None:
    summary, _ = judged(covering(), waiver("AE-NONE-1", covers=()))
    assert (standings(summary), summary.exit_code) == (["in-force", "unknown"], 5)


def test_waiver_of_what_was_not_measured_is_not_judged() -> None:
    summary, _ = judged(covering(), verdict="not-measured")
    assert (standings(summary), summary.exit_code) == (["unjudged"], 0)


def test_waiver_of_a_check_that_is_not_in_the_run_is_not_judged() -> None:
    summary, _ = judged(covering(covers=("c", "left out")), verdict="pass")
    assert (standings(summary), summary.exit_code) == (["unjudged"], 0)


def test_inconclusive_check_is_not_waived() -> None:
    summary, _ = judged(covering(), verdict="inconclusive")
    assert (standings(summary), summary.exit_code) == (["unjudged"], 1)
    assert "cannot be waived" in summary.checks[1].objection


def test_waiver_that_failed_differently_beside_one_in_force_is_stale() -> None:
    summary, _ = judged(covering(signature="f" * 16), covering())
    assert (standings(summary), summary.exit_code, summary.checks[1].objection) == (["not-failing", "in-force"], 5, "")


def test_failure_decides_before_a_stale_waiver() -> None:
    summary, _ = judged(waiver("AE-P-1", covers=("p",)))
    assert (standings(summary), summary.exit_code) == (["not-failing"], 1)


def test_waived_check_is_not_a_passing_one() -> None:
    failed = result("c", (ID,), "fail", finding())
    assert summarise(results([failed], waivers=(covering(),))).exit_code == 6


def test_nothing_decides_but_what_is_measured_before_a_stale_waiver() -> None:
    summary = summarise(results([result("c", (ID,), "not-applicable")], waivers=(covering(),)))
    assert (standings(summary), summary.exit_code) == (["not-failing"], 6)


def test_check_of_two_requirements_needs_a_waiver_for_each() -> None:
    both = (ID, OTHER)
    assert judged(covering(), claims=both)[0].exit_code == 1
    assert judged(covering(), waiver(OTHER, covers=("c",)), claims=both)[0].exit_code == 0


def test_waiver_of_one_check_leaves_the_others_of_its_requirement_failing() -> None:
    checks = [result("p", (OTHER,), "pass"), *(result(c, (ID,), "fail", finding()) for c in ("c", "d"))]
    summary = summarise(results(checks, waivers=(covering(check="c"),)))
    assert [checked.status for checked in summary.checks] == ["pass", "waived", "fail"]
    assert summary.exit_code == 1


@pytest.mark.parametrize(
    ("check", "names"),
    [(None, True), ("s/t.py::t[a]", True), ("s/t.py::t", True), ("s/t.py::t[b]", False), ("t", False)],
)
def test_waiver_names_a_check_with_its_parameters_or_without(check: str | None, names: bool) -> None:
    assert waiver(ID, check=check).names("s/t.py::t[a]", (ID,)) is names


def test_waiver_names_no_check_of_another_requirement() -> None:
    assert not waiver(ID, check="c").names("c", (OTHER,))


@pytest.mark.parametrize(("strict", "code"), [(False, 0), (True, 1)])
def test_should_whose_waiver_ran_out_decides_only_when_strict(strict: bool, code: int) -> None:
    rows = [requirement("AE-P-1"), requirement(ID, "SHOULD")]
    assert judged(covering(until="2026-01-01"), requirements=rows, strict=strict)[0].exit_code == code


def test_every_waiver_that_waived_nothing_says_what_to_do() -> None:
    told = {
        stands: explained(covering(), stands, LAST_DAY) for stands in ("ran-out", "different", "not-failing", "unknown")
    }
    assert all(ID in text for text in told.values())
    assert len(set(told.values())) == len(told)


def test_waiver_is_told_with_its_line() -> None:
    told = explained(replace(covering(), line=41), "not-failing", LAST_DAY)
    assert told == "the waiver of AE-AUTH-1 (line 41 of the target file) names what no longer fails: remove it"


@pytest.mark.parametrize(
    ("until", "told"),
    [
        ("2026-12-14", ""),
        ("2026-12-13", "the waiver of AE-AUTH-1 runs out in 14 days: mend what fails, or have Jo extend it"),
        ("2026-11-30", "the waiver of AE-AUTH-1 runs out tomorrow: mend what fails, or have Jo extend it"),
        (LAST_DAY, "the waiver of AE-AUTH-1 runs out today: mend what fails, or have Jo extend it"),
    ],
)
def test_waiver_that_will_run_out_soon_says_so_and_still_holds(until: str, told: str) -> None:
    assert explained(covering(until=until), "in-force", LAST_DAY) == told
    assert judged(covering(until=until))[0].exit_code == 0


@pytest.mark.parametrize("line", [None, 41])
def test_waivers_survive_the_results_file(line: int | None) -> None:
    waivers = (replace(covering(check="c"), line=line),)
    sample: Results = results([result("c", (ID,), "fail", finding())], waivers=waivers)
    record = sample.header.to_json()
    assert schema_errors("results.schema.json", record) == []
    assert type(sample.header).from_json(record).waivers == sample.header.waivers


@pytest.mark.parametrize("broken", [{"until": "2026-02-30"}, {"until": 5}, {"surplus": 1}, {"covers": None}])
def test_results_with_a_waiver_that_is_none_are_refused(tmp_path: Path, broken: dict[str, Any]) -> None:
    header = results([result("c", (ID,), "pass")], waivers=(covering(),)).header.to_json()
    header["waivers"][0] |= broken
    path = tmp_path / "results.jsonl"
    path.write_text(json.dumps(header) + "\n", encoding="utf-8")
    with pytest.raises(UsageError, match="not a results file"):
        read(path)


def test_results_of_a_run_that_began_at_no_time_are_refused(tmp_path: Path) -> None:
    sample = write(results([result("c", (ID,), "pass")], started="yesterday"), tmp_path / "results.jsonl")
    with pytest.raises(UsageError, match="not a results file"):
        read(sample)
