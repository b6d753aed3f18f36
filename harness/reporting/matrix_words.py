"""What there is to say about a matrix, in the words that all its reports share."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from harness.diff import RowChange
from harness.exchange import Exchange
from harness.matrix.outcome import Outcome
from harness.matrix.report import Report, Section
from harness.matrix.steps import Step
from harness.reporting.changes import changed
from harness.reporting.findings import account
from harness.reporting.headline import judgement
from harness.reporting.visible import shortened
from harness.verdict import CONFORMS, Checked, Status, Summary

NOT_RUN = "not run"
_REASON_CHARACTERS = 300
_ABSENT = "not there"


@dataclass(frozen=True)
class Otherwise:
    """Something that a version does otherwise than the one before it: by which check, what each does, the exchange.

    `named`: the finding names the exchange; else it is the longest one of the check, None where the check has none.
    """

    id: str
    title: str
    before: str
    after: str
    exchange: Exchange | None
    named: bool


def matrix_headline(report: Report) -> str:
    """One line such as `5 of 7 cells conform, 1 does not, 1 could not be run`; safe to show anywhere."""
    total = len(report.outcomes)
    missing = sum(outcome.summary is None for outcome in report.outcomes)
    good = sum(outcome.exit_code == CONFORMS for outcome in report.outcomes)
    bad = total - good - missing
    said = [f"{good} of {total} {'cell conforms' if total == 1 else 'cells conform'}"]
    said += [f"{bad} {'does' if bad == 1 else 'do'} not"] if bad else []
    said += [f"{missing} could not be run"] if missing else []
    return ", ".join(said)


def cell_headline(outcome: Outcome) -> str:
    """What a cell comes to in one line, or why it could not be run."""
    if outcome.summary is None:
        reason = shortened(" ".join(outcome.reason.split()), _REASON_CHARACTERS)
        return f"could not be run (exit code {outcome.exit_code}): {reason}"
    return judgement(outcome.summary)


def cell_verdict(outcome: Outcome, id_: str) -> tuple[Status | None, str]:
    """The verdict of a requirement in a cell, None where there is none, and the words for it: never empty."""
    if outcome.summary is None:
        return None, NOT_RUN
    row = next((row for row in outcome.summary.rows if row.requirement.id == id_), None)
    if row is None:
        return None, _ABSENT
    whole = row.passed == len(row.checks)
    return row.verdict, row.verdict if whole else f"{row.verdict} {row.passed}/{len(row.checks)}"


def heading(section: Section) -> str:
    """A comparison in one line."""
    comparison = section.comparison
    before = f" before {comparison.target}" if comparison.target else ""
    only = f", checks {comparison.checks}" if comparison.checks else ""
    return f"{comparison.suite} on {comparison.binary}{before}{only}"


def verdict_changes(step: Step) -> tuple[RowChange, ...]:
    """The requirements whose verdict changed in a way that is worth a line."""
    return changed(step.verdicts)


def behaviour_words(step: Step) -> str:
    """One line that says how many requirements a version keeps in another way than the one before it."""
    old, new = step.old.task.version, step.new.task.version
    if step.behaviour is None:
        return f"What {old} does is not recorded: only verdicts are compared."
    count = len(step.behaviour.of("regressed"))
    if not count:
        return f"Held to what {old} does, {new} comes out the same."
    return f"Held to what {old} does, {new} does otherwise in {count} of {len(step.behaviour.rows)} requirements."


def otherwise(step: Step) -> Iterator[Otherwise]:
    """What the newer version does otherwise, check by check."""
    if step.behaviour is None:
        return
    for row in step.behaviour.of("regressed"):
        for check in row.checks:
            if check.new is None or not check.broke:
                continue
            told = account(check.new, step.behaviour.new)
            texts = dict(told.lines)
            after = texts.get("came") or f"cannot be held to it: {texts.get('reason', '')}"
            shown = told.exchange or _longest(check.old, step.behaviour.old)
            named = told.exchange is not None
            yield Otherwise(row.requirement.id, check.title, texts.get("expected", ""), after, shown, named)


def _longest(checked: Checked | None, summary: Summary) -> Exchange | None:
    numbers = checked.result.exchanges if checked and checked.result else ()
    exchanges = [summary.results.exchanges[number] for number in numbers if number in summary.results.exchanges]
    return max(exchanges, key=lambda exchange: len(exchange.body), default=None)
