"""What there is to say about a check that did not pass, in the words that all reports share."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from harness.exchange import Exchange
from harness.reporting.behind import errors_in, failed_behind
from harness.reporting.course import course
from harness.reporting.transcript import BODY_CHARACTERS, transcript
from harness.reporting.visible import last_lines, shortened, visible
from harness.verdict import Checked, Summary, day_of
from harness.waiver import explained

_FIELD_CHARACTERS = 2000


@dataclass(frozen=True)
class Section:
    """A text of several lines under a heading, safe to show; the heading is one line."""

    heading: str
    text: str


@dataclass(frozen=True)
class Account:
    """Why a check did not pass: lines of name and text, safe to show, and the exchange that shows it.

    `behind` is the exchange that tells what went wrong behind the target, where that one does not; `exchanges` are all
    of the check, `output` is the end of what the target wrote meanwhile.
    """

    lines: tuple[tuple[str, str], ...]
    exchange: Exchange | None = None
    behind: Exchange | None = None
    exchanges: tuple[Exchange, ...] = ()
    output: str = ""

    def sections(self, body_characters: int = BODY_CHARACTERS) -> Iterator[Section]:
        """What belongs to it beside the lines; of each exchange that is shown the bodies are shortened to so many."""
        shown = {exchange.number for exchange in (self.exchange, self.behind) if exchange}
        if self.exchange:
            text = transcript(self.exchange, body_characters)
            yield Section(f"the exchange that shows it, #{self.exchange.number}", text)
        if self.behind:
            text = transcript(self.behind, body_characters, errors_in(self.behind))
            yield Section(f"what failed behind the target, #{self.behind.number}", text)
        if not shown >= {exchange.number for exchange in self.exchanges}:
            yield Section("the exchanges of the check", course(self.exchanges, shown))
        if lines := last_lines(self.output):
            yield Section("the end of what the target wrote", "\n".join(lines))


def failures(summary: Summary) -> tuple[Checked, ...]:
    """The checks that failed, are inconclusive or broke, whether they decide or not, in the order of requirements."""
    place = {row.requirement.id: number for number, row in enumerate(summary.rows)}
    failed = (checked for checked in summary.checks if checked.status in ("error", "fail", "inconclusive"))
    return tuple(sorted(failed, key=lambda checked: min((place[one.id] for one in checked.requirements), default=0)))


def failing(summary: Summary) -> list[list[Checked]]:
    """The failures in groups that are told once, those that decide first, else in the order of requirements."""
    return sorted(alike(failures(summary)), key=lambda group: not summary.check_decides(group[0]))


def alike(checks: Iterable[Checked]) -> list[list[Checked]]:
    """Checks in groups that are told once: same requirements and verdict, same expectation and mend, or same reason.

    What is said of waivers is the same in a group too.
    """
    groups: dict[object, list[Checked]] = {}
    for checked in checks:
        finding = checked.result.finding if checked.result else None
        said = (finding.expected, finding.mend) if finding is not None else reason(checked)
        waived = (by_waivers(checked), checked.objection)
        groups.setdefault((checked.requirements, checked.status, said, waived), []).append(checked)
    return list(groups.values())


def unmeasured(summary: Summary) -> tuple[Checked, ...]:
    """The checks that were not measured, in the order of the plan."""
    return tuple(checked for checked in summary.checks if checked.status == "not-measured")


def waived(summary: Summary) -> tuple[Checked, ...]:
    """The checks whose failure is waived, in the order of the plan."""
    return tuple(checked for checked in summary.checks if checked.status == "waived")


def by_waivers(checked: Checked) -> str:
    """Who waived the check's failure until when, why, and where it is tracked."""
    told = (f"until {w.until} by {w.owner}: {w.reason} ({w.link})" for w in checked.waivers)
    return _safe("; ".join(dict.fromkeys(told)))


def waivers_to_mend(summary: Summary) -> tuple[str, ...]:
    """What to do about waivers, one sentence for each that needs it, safe to show."""
    day = day_of(summary.results.header)
    return tuple(_safe(told) for told in (explained(*judged, day) for judged in summary.waivers) if told)


def ids(checked: Checked) -> str:
    """The ids of the requirements that the check claims."""
    return ", ".join(requirement.id for requirement in checked.requirements)


def levels(checked: Checked) -> str:
    """The levels of these requirements, each once."""
    return ", ".join(dict.fromkeys(requirement.level for requirement in checked.requirements))


def reason(checked: Checked) -> str:
    """Why the check has no finding, in one text; says so when nothing was recorded."""
    return _safe((checked.result and checked.result.reason) or "no reason was recorded")


def account(checked: Checked, summary: Summary) -> Account:
    """What was expected, what came and how to mend it; or the reason, when the check has no finding.

    Also why waivers that name the check do not waive it.
    """
    if checked.result is None:
        return Account(_lines(checked))
    known, finding = summary.results.exchanges, checked.result.finding
    exchanges = tuple(known[number] for number in checked.result.exchanges if number in known)
    exchange = None if finding is None or finding.exchange is None else known.get(finding.exchange)
    behind = failed_behind(exchanges) if exchange and exchange.hop == "client" else None
    return Account(_lines(checked), exchange, behind, exchanges, checked.result.output)


def _lines(checked: Checked) -> tuple[tuple[str, str], ...]:
    finding = checked.result.finding if checked.result else None
    unwaived = (("waiver", _safe(checked.objection)),) if checked.objection else ()
    if finding is None:
        return (("reason", reason(checked)), *unwaived)
    texts = (("expected", finding.expected), ("came", finding.came), ("mend", finding.mend))
    return (*((name, _safe(text)) for name, text in texts), *unwaived)


def _safe(text: str) -> str:
    return shortened(visible(text), _FIELD_CHARACTERS)
