from __future__ import annotations

from dataclasses import replace

import pytest

from harness.matrix.plan import Comparison
from harness.matrix.report import Report, Section
from harness.reporting.matrix_words import (
    behaviour_words,
    cell_headline,
    cell_verdict,
    heading,
    matrix_headline,
    otherwise,
    verdict_changes,
)
from tests.sample_matrix import LONG, matrix_of, mixed_matrix, run
from tests.sample_results import with_verdicts


@pytest.mark.parametrize(
    ("report", "line"),
    [
        (matrix_of(with_verdicts("pass")), "1 of 1 cell conforms"),
        (matrix_of(with_verdicts("pass"), with_verdicts("pass")), "2 of 2 cells conform"),
        (
            matrix_of(with_verdicts("pass", "fail"), "lost"),
            "0 of 2 cells conform, 1 does not, 1 could not be run",
        ),
        (mixed_matrix(), "2 of 4 cells conform, 1 does not, 1 could not be run"),
    ],
)
def test_headline_counts_the_cells(report: Report, line: str) -> None:
    assert matrix_headline(report) == line


def test_no_cell_is_ever_blank() -> None:
    report = mixed_matrix()
    (section,) = report.sections
    words = [cell_verdict(outcome, one.id)[1] for outcome in report.outcomes for one in section.requirements]
    assert words == ["pass", "pass", "pass", "pass", "not run", "not run", "pass", "fail 0/1"]
    assert cell_verdict(report.outcomes[0], "KC-A-9")[1] == "not there"


def test_cell_that_could_not_be_run_says_why() -> None:
    assert cell_headline(mixed_matrix().outcomes[2]).startswith(
        "could not be run (exit code 2): the registry has no kilo"
    )


def test_comparison_is_told_with_what_it_is_limited_to() -> None:
    assert heading(Section(Comparison("kilo", "kilo_cli", ()), (), ())) == "kilo_cli on kilo"
    limited = Comparison("opencode", "agent_endpoint", (), "own.toml", "AUTH")
    assert heading(Section(limited, (), ())) == "agent_endpoint on opencode before own.toml, checks AUTH"


def test_what_is_done_otherwise_is_told_check_by_check() -> None:
    (one,) = otherwise(mixed_matrix().sections[0].steps[0])
    assert (one.id, one.title, one.before, one.after) == ("KC-A-1", "title of c1", "1 call", "2 calls")
    assert one.exchange is not None
    assert (one.exchange.number, one.named) == (7, True)


def test_check_without_an_exchange_in_its_finding_shows_its_longest() -> None:
    step = mixed_matrix().sections[0].steps[0]
    assert step.behaviour is not None
    row = step.behaviour.rows[0]
    assert row.checks[0].old is not None
    assert row.checks[0].new is not None
    old, new = row.checks[0].old, row.checks[0].new
    assert old.result is not None
    assert new.result is not None
    assert new.result.finding is not None
    unnamed = replace(new, result=replace(new.result, finding=replace(new.result.finding, exchange=None)))
    seen = replace(old, result=replace(old.result, exchanges=(7, 9, 99)))
    rows = (replace(row, checks=(replace(row.checks[0], old=seen, new=unnamed),)),)
    (one,) = otherwise(replace(step, behaviour=replace(step.behaviour, rows=rows)))
    assert (one.exchange, one.named) == (LONG, False)


def test_behaviour_is_told_in_one_line() -> None:
    known, unknown = mixed_matrix().sections[0].steps
    assert behaviour_words(known) == "Held to what 1.0.0 does, 1.1.0 does otherwise in 1 of 2 requirements."
    assert behaviour_words(unknown) == "What 1.1.0 does is not recorded: only verdicts are compared."
    assert list(otherwise(unknown)) == []
    same = replace(known, behaviour=known.verdicts)
    assert behaviour_words(same) == "Held to what 1.0.0 does, 1.1.0 comes out the same."


def test_verdicts_that_changed_are_told() -> None:
    first, second = mixed_matrix().sections[0].steps
    assert verdict_changes(first) == ()
    assert [(row.change, row.requirement.id) for row in verdict_changes(second)] == [("regressed", "KC-A-2")]


def test_requirements_are_those_of_all_cells() -> None:
    report = matrix_of(run("1", "pass"), "lost", run("2", "pass", "pass"))
    assert [requirement.id for requirement in report.sections[0].requirements] == ["KC-A-1", "KC-A-2"]
