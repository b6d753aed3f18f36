from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from harness.reporting.headline import headline, judgement
from harness.results import Outcome
from harness.verdict import Status, Summary, summarise
from tests.sample_results import HOSTILE, requirement, result, results, waiver, with_verdicts


@pytest.mark.parametrize(
    ("verdicts", "options", "line"),
    [
        (("pass", "pass"), {}, "conforms: all 2 MUSTs pass (2 of 2 measured)"),
        (("pass",), {}, "conforms: the only MUST passes (1 of 1 measured)"),
        (("pass", "not-measured"), {}, "conforms: no MUST fails (1 of 2 measured)"),
        (("pass", "waived"), {}, "conforms: 1 of 2 MUSTs pass, 1 is waived (2 of 2 measured)"),
        (("pass", "pass", "waived", "waived"), {}, "conforms: 2 of 4 MUSTs pass, 2 are waived (4 of 4 measured)"),
        (("pass", "waived", "fail"), {}, "does not conform: 1 of 3 MUSTs fails (3 of 3 measured)"),
        (
            ("pass",),
            {"waivers": (waiver("AE-GROUP-1"),)},
            "conforms, but 1 waiver is to be mended: the only MUST passes (1 of 1 measured)",
        ),
        (
            ("pass",),
            {"waivers": (waiver("AE-GROUP-1"), waiver("AE-NONE-1", covers=()))},
            "conforms, but 2 waivers are to be mended: the only MUST passes (1 of 1 measured)",
        ),
        (("pass", "fail", "fail"), {}, "does not conform: 2 of 3 MUSTs fail (3 of 3 measured)"),
        (("pass", "fail"), {}, "does not conform: 1 of 2 MUSTs fails (2 of 2 measured)"),
        (
            ("pass", "fail", "inconclusive"),
            {},
            "does not conform: 1 of 3 MUSTs fails, 1 is inconclusive (2 of 3 measured)",
        ),
        (("pass", "inconclusive"), {}, "does not conform: 1 of 2 MUSTs is inconclusive (1 of 2 measured)"),
        (
            ("pass", "not-measured"),
            {"require_all": True},
            "does not conform: 1 of 2 MUSTs is not measured (1 of 2 measured)",
        ),
        (("fail", "fail"), {}, "does not conform: 2 of 2 MUSTs fail (2 of 2 measured)"),
        (("inconclusive",), {}, "nothing conforms: none of 1 checks passed (1 of 1 MUST is inconclusive)"),
        (("not-measured",), {}, "nothing conforms: none of 1 checks passed"),
        ((), {}, "nothing conforms: none of 0 checks passed"),
        (("pass", "error"), {}, "harness error: 1 of 2 checks broke in turnproof itself"),
        (("pass", "not-run"), {"outcome": None}, "unfinished: 1 of 2 checks were made"),
        (
            ("fail", "not-run"),
            {"outcome": "interrupted"},
            "unfinished: 1 of 2 checks were made (1 of 2 MUSTs fails)",
        ),
        (("not-run",), {"outcome": "not-ready", "error": "no answer\non port"}, "target not ready: no answer on port"),
        (("not-run",), {"outcome": "not-ready"}, "target not ready: no reason was recorded"),
        (("pass",), {"outcome": "error", "error": "it broke"}, "harness error: it broke"),
    ],
)
def test_judgement_says_the_run_in_one_line(verdicts: tuple[Status, ...], options: dict[str, Any], line: str) -> None:
    assert judgement(with_verdicts(*verdicts, **options)) == line


def test_judgement_says_that_a_should_decided() -> None:
    checks = [result("p", ("AE-A-1",), "pass"), result("f", ("AE-A-2",), "fail")]
    rows = [requirement("AE-A-1"), requirement("AE-A-2", "SHOULD")]
    line = judgement(summarise(results(checks, rows, strict=True)))
    assert line == "does not conform: 1 of 1 SHOULD fails (1 of 1 measured)"


def test_judgement_says_what_was_measured_in_part() -> None:
    checks = [result("p", ("AE-A-1",), "pass"), result("n", ("AE-A-1",), "not-measured")]
    assert judgement(summarise(results(checks))) == "conforms: the only MUST passes (1 of 1 measured, 1 in part)"


def test_judgement_says_that_a_part_was_required() -> None:
    checks = [result("p", ("AE-A-1",), "pass"), result("n", ("AE-A-1",), "not-measured")]
    line = judgement(summarise(results(checks, require_all=True)))
    assert line == "does not conform: 1 of 1 MUST is measured in part only (1 of 1 measured, 1 in part)"


@pytest.mark.parametrize("outcome", ["error", "not-ready"])
def test_headline_is_one_short_printable_line_whatever_the_error_says(outcome: Outcome) -> None:
    line = headline(with_verdicts("not-run", outcome=outcome, error=HOSTILE * 1000))
    assert line.isprintable()
    assert len(line) < 300


@pytest.mark.parametrize(
    ("verdicts", "whole", "line"),
    [
        (("pass",), 1, "conforms: the only MUST passes (1 of 1 measured)"),
        (("pass",), 2, "conforms: the only MUST passes (1 of 1 measured), in a part of the suite"),
        (("fail", "pass"), 9, "does not conform: 1 of 2 MUSTs fails (2 of 2 measured), in a part of the suite"),
        (("not-measured",), 2, "nothing conforms: none of 1 checks passed, in a part of the suite"),
    ],
)
def test_a_part_of_the_suite_is_not_passed_off_as_the_whole(
    verdicts: tuple[Status, ...], whole: int, line: str
) -> None:
    assert judgement(with_verdicts(*verdicts, whole=whole)) == line


def of(name: str, suite: str = "agent_endpoint", *verdicts: Status) -> Summary:
    """A run of a target of this name by this suite."""
    run = with_verdicts(*verdicts or ("pass",)).results
    header = replace(run.header, target=replace(run.header.target, name=name), suite=suite)
    return summarise(replace(run, header=header))


def test_headline_begins_with_what_was_judged() -> None:
    assert headline(of("my endpoint")) == "my endpoint conforms: the only MUST passes (1 of 1 measured)"


def test_headline_of_what_was_not_judged_begins_with_it_too() -> None:
    told = headline(of("my endpoint", "agent_endpoint", "not-measured"))
    assert told == "my endpoint: nothing conforms: none of 1 checks passed"


def test_headline_names_a_suite_that_is_not_the_one_of_the_kind() -> None:
    assert headline(of("my endpoint", "live_endpoint")).startswith("my endpoint (live_endpoint) conforms: ")


def test_headline_is_short_and_printable_whatever_the_target_is_called() -> None:
    line = headline(of(HOSTILE * 100))
    assert line.isprintable()
    assert len(line) < 300
