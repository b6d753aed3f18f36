from __future__ import annotations

from harness.target_schema import Problem
from harness.waiver_problems import one_for_each_waiver


def test_problems_of_a_waiver_become_one_at_its_beginning() -> None:
    empty = "must not be empty"
    problems = {
        Problem(("waivers", 1, "owner"), empty),
        Problem(("waivers", 1, "reason"), empty),
        Problem(("waivers", 1), "link is missing"),
    }
    assert one_for_each_waiver(problems) == {
        Problem(("waivers", 1), "owner, reason: must not be empty; link is missing"),
    }


def test_only_problem_of_a_waiver_stays_where_it_is() -> None:
    problems = {Problem(("waivers", index, "owner"), "must not be empty") for index in (0, 1)}
    assert one_for_each_waiver(problems) == problems


def test_problems_that_are_not_of_waivers_stay_apart() -> None:
    problems = {Problem(("keys", 0, name), "must not be empty") for name in ("name", "env")} | {Problem((), "no kind")}
    assert one_for_each_waiver(problems) == problems
