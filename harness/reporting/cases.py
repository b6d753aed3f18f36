"""A run as the flat list of cases that CI servers know: what JUnit, CTRF and annotations have in common.

Readers of such lists know no levels, and turn red at any failure. So that they cannot disagree with the exit code, a
case fails when it counts against conformance in this run; a failing check that does not (of a SHOULD, of a MAY) is
skipped with a message that begins `fail, but does not decide`, and so is a waived failure. A check that was planned and
did not run is an error, and so is, in a group called `run`, a run that cannot be judged (exit codes 3, 4, 6 and 130). A
waiver that names something unknown or no longer failing (exit code 5) is a failure in a group called `waivers`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from harness.reporting.findings import Account, account, by_waivers, ids, levels, reason
from harness.reporting.headline import headline
from harness.reporting.visible import one_line, shortened
from harness.verdict import CONFORMS, DOES_NOT_CONFORM, STALE_WAIVER, Checked, Row, Summary, day_of
from harness.waiver import STALE, explained

Kind = Literal["passed", "failure", "error", "skipped"]

_MESSAGE_CHARACTERS = 300


@dataclass(frozen=True)
class Case:
    """One entry. All its texts are safe to show, and all but `account` and `sections` are one line.

    `name` is unique in the run. `check` is the id of the check, None for what is none. `verdict` is the check's, or for
    the run as a whole its outcome; `signature` is that of a failure. `message` is a sentence, empty for what passed.
    `account` says what was expected, what came and how to mend it, `sections` are what belongs to it, such as the
    exchange that shows it; both are empty for what needs none.
    """

    group: str
    name: str
    kind: Kind
    verdict: str
    check: str | None = None
    requirements: tuple[str, ...] = ()
    levels: str = ""
    signature: str = ""
    message: str = ""
    account: str = ""
    sections: str = ""
    duration: float = 0.0

    @property
    def details(self) -> str:
        """The account with what belongs to it."""
        return "\n\n".join(filter(None, (self.account, self.sections)))


def cases(summary: Summary) -> tuple[Case, ...]:
    """The checks in their order, then requirements without a check, stale waivers, and a run that cannot be judged."""
    titles = Counter(checked.title for checked in summary.checks)
    made = (_check(checked, summary, titles[checked.title] == 1) for checked in summary.checks)
    unchecked = (_unchecked(row, summary) for row in summary.rows if row.verdict == "not-run" and not row.checks)
    return (*made, *unchecked, *_stale(summary), *_unjudged(summary))


def _check(checked: Checked, summary: Summary, unique: bool) -> Case:
    kind, message = _outcome(checked, summary)
    told = account(checked, summary) if checked.status in ("error", "fail", "inconclusive", "waived") else None
    return Case(
        group=one_line(checked.requirements[0].group) if checked.requirements else "none",
        name=one_line(checked.title if unique else f"{checked.title} [{checked.check}]"),
        kind=kind,
        verdict=checked.status,
        check=one_line(checked.check),
        requirements=tuple(requirement.id for requirement in checked.requirements),
        levels=levels(checked),
        signature=one_line(checked.result.signature or "") if checked.result else "",
        message=_message(message),
        account="\n".join(f"{name + ':':<10}{text}" for name, text in told.lines) if told else "",
        sections=_sections(told) if told else "",
        duration=checked.result.duration if checked.result else 0.0,
    )


def _sections(told: Account) -> str:
    return "\n\n".join(f"{section.heading}:\n{section.text}" for section in told.sections())


def _outcome(checked: Checked, summary: Summary) -> tuple[Kind, str]:
    status = checked.status
    if status == "pass":
        return "passed", ""
    if status == "error":
        return "error", reason(checked)
    if status == "not-run":
        return "error", "the run ended before this check"
    if status in ("fail", "inconclusive"):
        lines = dict(account(checked, summary).lines)
        message = lines.get("came") or lines.get("reason", "")
        if summary.check_decides(checked):
            return "failure", f"{ids(checked)}: {message}"
        return "skipped", f"{status}, but does not decide ({levels(checked)}): {message}"
    if status == "waived":
        return "skipped", f"waived {by_waivers(checked)}"
    if summary.check_decides(checked):
        return "failure", f"not measured, and the run requires all: {reason(checked)}"
    return "skipped", f"{status}: {reason(checked)}"


def _unchecked(row: Row, summary: Summary) -> Case:
    return Case(
        group="unchecked",
        name=one_line(f"{row.requirement.id} {row.requirement.statement}"),
        kind="failure" if summary.row_decides(row) else "skipped",
        verdict=row.verdict,
        requirements=(row.requirement.id,),
        levels=row.requirement.level,
        message="no check of this requirement was planned in this run",
    )


def _stale(summary: Summary) -> Iterator[Case]:
    for waiver, stands in summary.waivers:
        if stands in STALE:
            name = one_line(f"the waiver of {waiver.what}, signature {waiver.signature}, is needed")
            message = _message(explained(waiver, stands, day_of(summary.results.header)))
            yield Case(
                "waivers", name, "failure", stands, requirements=(one_line(waiver.requirement),), message=message
            )


def _unjudged(summary: Summary) -> Iterator[Case]:
    footer = summary.results.footer
    if summary.exit_code not in (CONFORMS, DOES_NOT_CONFORM, STALE_WAIVER):
        verdict = footer.outcome if footer else "unfinished"
        yield Case("run", "the run can be judged", "error", verdict, message=_message(headline(summary)))


def _message(text: str) -> str:
    return shortened(one_line(text), _MESSAGE_CHARACTERS)
