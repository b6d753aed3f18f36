"""The run in one line."""

from __future__ import annotations

from collections import Counter

from harness.kinds import kind_named
from harness.reporting.visible import one_line, shortened
from harness.requirements import Level
from harness.verdict import (
    CONFORMS,
    DOES_NOT_CONFORM,
    HARNESS_ERROR,
    NOT_READY,
    NOTHING_MEASURED,
    STALE_WAIVER,
    STATUSES,
    UNFINISHED,
    Row,
    Status,
    Summary,
)

_DECIDING_LEVELS: tuple[Level, ...] = ("MUST", "SHOULD")
_ERROR_CHARACTERS = 200
_NAME_CHARACTERS = 80
_WORDS: dict[Status, str] = {
    "error": "broken by the harness",
    "not-run": "without a check that ran",
    "pass": "measured in part only",
    "not-measured": "not measured",
}


def headline(summary: Summary) -> str:
    """One line such as `my endpoint does not conform: 2 of 8 MUSTs fail (8 of 8 measured)`; safe to show anywhere."""
    judged = summary.exit_code in (CONFORMS, DOES_NOT_CONFORM, STALE_WAIVER)
    return f"{_subject(summary)}{' ' if judged else ': '}{judgement(summary)}"


def _subject(summary: Summary) -> str:
    """What was judged: the target, and by which suite where that is not the one of its kind."""
    header = summary.results.header
    name = shortened(one_line(header.target.name), _NAME_CHARACTERS)
    return name if header.suite == kind_named(header.target.kind).suite else f"{name} ({one_line(header.suite)})"


def judgement(summary: Summary) -> str:
    """The headline without what was judged, for where that is told already."""
    checks = len(summary.checks)
    tally = _tallies(summary)
    if summary.exit_code == UNFINISHED:
        return f"unfinished: {summary.made} of {checks} checks were made{_in_brackets(tally)}"
    if summary.exit_code == HARNESS_ERROR:
        return f"harness error: {_error(summary) or _broke(summary)}"
    if summary.exit_code == NOT_READY:
        return f"target not ready: {_error(summary) or 'no reason was recorded'}"
    return _judged(summary, tally) + in_part(summary)


def in_part(summary: Summary) -> str:
    """What is added to a verdict on a part of the suite, which is none on the whole; empty for the whole."""
    return ", in a part of the suite" if summary.results.header.partial else ""


def _judged(summary: Summary, tally: str) -> str:
    checks = len(summary.checks)
    if summary.exit_code == NOTHING_MEASURED:
        return f"nothing conforms: none of {checks} checks passed{_in_brackets(tally)}"
    if summary.exit_code == DOES_NOT_CONFORM:
        return f"does not conform: {tally} ({_measured(summary)})"
    if summary.exit_code == STALE_WAIVER:
        count = len(summary.stale)
        many = "1 waiver is" if count == 1 else f"{count} waivers are"
        return f"conforms, but {many} to be mended: {_passed(summary)} ({_measured(summary)})"
    return f"conforms: {_passed(summary)} ({_measured(summary)})"


def _tallies(summary: Summary) -> str:
    tallies = (_tally(summary, level) for level in _DECIDING_LEVELS)
    return "; ".join(tally for tally in tallies if tally)


def _tally(summary: Summary, level: Level) -> str:
    rows = summary.applicable(level)
    counts = Counter(row.verdict for row in rows if summary.row_decides(row))
    said = [(counts[status], status) for status in STATUSES if counts[status]]
    clauses = [f"{count} {_say(count, status)}" for count, status in said]
    if clauses:
        count, status = said[0]
        clauses[0] = f"{count} of {_musts(rows, level)} {_say(count, status)}"
    return ", ".join(clauses)


def _musts(rows: tuple[Row, ...], level: Level) -> str:
    return f"{len(rows)} {level}{'' if len(rows) == 1 else 's'}"


def _say(count: int, status: Status) -> str:
    if status == "fail":
        return "fails" if count == 1 else "fail"
    return f"{'is' if count == 1 else 'are'} {_WORDS.get(status, status)}"


def _passed(summary: Summary) -> str:
    musts = summary.musts
    if musts.waived:
        return f"{musts.passed} of {musts.applicable} MUSTs pass, {musts.waived} {_say(musts.waived, 'waived')}"
    if musts.passed < musts.applicable or musts.applicable == 0:
        return "no MUST fails"
    return "the only MUST passes" if musts.passed == 1 else f"all {musts.passed} MUSTs pass"


def _measured(summary: Summary) -> str:
    musts = summary.musts
    in_part = f", {musts.in_part} in part" if musts.in_part else ""
    return f"{musts.measured} of {musts.applicable} measured{in_part}"


def _error(summary: Summary) -> str:
    footer = summary.results.footer
    return shortened(one_line(" ".join((footer.error if footer and footer.error else "").split())), _ERROR_CHARACTERS)


def _broke(summary: Summary) -> str:
    count = sum(checked.status == "error" for checked in summary.checks)
    return f"{count} of {len(summary.checks)} checks broke in turnproof itself"


def _in_brackets(text: str) -> str:
    return f" ({text})" if text else ""
