"""What there is to say about a check that did not pass, in the words that all reports share."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from harness.exchange import Exchange
from harness.reporting.visible import shortened, visible
from harness.verdict import Checked, Summary, day_of
from harness.waiver import explained

_FIELD_CHARACTERS = 2000


@dataclass(frozen=True)
class Account:
    """Why a check did not pass: lines of name and text, safe to show, and the exchange that shows it."""

    lines: tuple[tuple[str, str], ...]
    exchange: Exchange | None


def failures(summary: Summary) -> tuple[Checked, ...]:
    """The checks that failed, are inconclusive or broke, whether they decide or not, in the order of the plan."""
    return tuple(checked for checked in summary.checks if checked.status in ("error", "fail", "inconclusive"))


def alike(checks: Iterable[Checked]) -> list[list[Checked]]:
    """Checks in groups that are told once: same requirements and verdict, same expectation and mend, or same reason."""
    groups: dict[object, list[Checked]] = {}
    for checked in checks:
        finding = checked.result.finding if checked.result else None
        said = (finding.expected, finding.mend) if finding is not None else reason(checked)
        groups.setdefault((checked.requirements, checked.status, said), []).append(checked)
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
    finding = checked.result.finding if checked.result else None
    unwaived = (("waiver", _safe(checked.objection)),) if checked.objection else ()
    if finding is None:
        return Account((("reason", reason(checked)), *unwaived), None)
    texts = (("expected", finding.expected), ("came", finding.came), ("mend", finding.mend))
    exchange = None if finding.exchange is None else summary.results.exchanges.get(finding.exchange)
    return Account((*((name, _safe(text)) for name, text in texts), *unwaived), exchange)


def _safe(text: str) -> str:
    return shortened(visible(text), _FIELD_CHARACTERS)
