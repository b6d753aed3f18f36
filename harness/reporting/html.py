"""`report.html`: the run in one file that needs no network, and of scripts only what it does better with.

Filters, folds and colours for light and dark work without any script. What a target or a user wrote is escaped by the
template, and the page's own policy forbids every script but ours.
"""

from __future__ import annotations

import base64
import hashlib
import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from harness.reporting.badge import badge_colour
from harness.reporting.findings import (
    Section,
    account,
    alike,
    by_waivers,
    failing,
    ids,
    levels,
    reason,
    waived,
    waivers_to_mend,
)
from harness.reporting.headline import headline
from harness.reporting.templates import rendered, source
from harness.reporting.visible import one_line, shortened
from harness.verdict import Checked, Row, Status, Summary

_VALUE_CHARACTERS = 300
_STRAYS = 50


@dataclass(frozen=True)
class _Same:
    """A check that failed in the same way: what came, the number of the exchange that shows it, and where it is."""

    anchor: str
    title: str
    came: str
    number: int | None


@dataclass(frozen=True)
class _Failure:
    """A check that failed: its account with what belongs to it, where it is on the page, and those that are alike."""

    anchor: str
    ids: str
    title: str
    levels: str
    verdict: Status
    decides: bool
    lines: tuple[tuple[str, str], ...]
    sections: tuple[Section, ...]
    same: tuple[_Same, ...]


@dataclass(frozen=True)
class _Check:
    """A check of a requirement: `anchor` leads to its account, `note` says why it was not measured."""

    title: str
    verdict: Status
    seconds: str
    anchor: str
    note: str


@dataclass(frozen=True)
class _Requirement:
    id: str
    level: str
    verdict: Status
    passed: str
    statement: str
    checks: tuple[_Check, ...]


def html(summary: Summary) -> str:
    """The whole page."""
    script = source("report.js")
    groups = [*failing(summary), *alike(waived(summary))]
    failed = itertools.chain.from_iterable(groups)
    anchors = {checked.check: f"check-{number}" for number, checked in enumerate(failed, 1)}
    rows = itertools.groupby(summary.rows, key=lambda row: row.requirement.group)
    return rendered(
        "report.html",
        headline=headline(summary),
        colour=badge_colour(summary),
        title=one_line(f"{summary.results.header.target.name}: {summary.results.header.suite}"),
        facts=tuple(_facts(summary)),
        counts=tuple((status, count) for status, count in summary.verdicts.items() if count),
        total=len(summary.rows),
        failures=tuple(_failure(group, anchors, summary) for group in groups),
        groups=tuple((group, tuple(_requirement(row, anchors) for row in of)) for group, of in rows),
        waivers=waivers_to_mend(summary),
        strays=tuple(_stray(number, summary) for number in summary.results.strays[:_STRAYS]),
        more_strays=max(0, len(summary.results.strays) - _STRAYS),
        style=source("report.css"),
        script=script,
        policy=f"default-src 'none'; style-src 'unsafe-inline'; script-src '{_digest(script)}'; base-uri 'none'",
    )


def _digest(script: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}"


def _facts(summary: Summary) -> Iterator[tuple[str, str]]:
    header, footer = summary.results.header, summary.results.footer
    options = [name for name, on in (("strict", header.strict), ("require all", header.require_all)) if on]
    yield "target", f"{_value(header.target.name)} ({header.target.kind})"
    yield "suite", ", ".join(filter(None, (_value(header.suite), str(header.share))))
    yield "checks", f"{summary.made} of {len(summary.checks)} made"
    yield "began", _value(header.started)
    yield "ended", _value(footer.ended) if footer else "without a footer: the run did not finish"
    yield "turnproof", ", ".join([_value(header.harness), *options])
    for part in header.parts:
        yield _value(part.get("name", "?")), _value(_part(part))
    yield "run", f"{_value(header.run)}, seed {_value(header.seed)}"


def _part(part: Mapping[str, str]) -> str:
    return ", ".join(value for key, value in part.items() if key != "name")


def _failure(group: list[Checked], anchors: Mapping[str, str], summary: Summary) -> _Failure:
    checked, *others = group
    told = account(checked, summary)
    by = (("waived", by_waivers(checked)),) if checked.status == "waived" else ()
    return _Failure(
        anchor=anchors[checked.check],
        ids=ids(checked),
        title=_value(checked.title),
        levels=levels(checked),
        verdict=checked.status,
        decides=summary.check_decides(checked),
        lines=(*told.lines, *by),
        sections=tuple(told.sections()),
        same=tuple(_same(other, anchors[other.check], summary) for other in others),
    )


def _same(checked: Checked, anchor: str, summary: Summary) -> _Same:
    told = account(checked, summary)
    number = told.exchange.number if told.exchange else None
    return _Same(anchor, _value(checked.title), dict(told.lines).get("came", ""), number)


def _requirement(row: Row, anchors: Mapping[str, str]) -> _Requirement:
    requirement = row.requirement
    return _Requirement(
        id=requirement.id,
        level=requirement.level,
        verdict=row.verdict,
        passed=f"{row.passed} of {len(row.checks)}",
        statement=_value(requirement.statement),
        checks=tuple(_check(checked, anchors) for checked in row.checks),
    )


def _check(checked: Checked, anchors: Mapping[str, str]) -> _Check:
    result = checked.result
    return _Check(
        title=_value(checked.title),
        verdict=checked.status,
        seconds=f"{result.duration:.2f} s" if result else "",
        anchor=anchors.get(checked.check, ""),
        note=reason(checked) if result and result.reason and checked.check not in anchors else "",
    )


def _stray(number: int, summary: Summary) -> str:
    exchange = summary.results.exchanges[number]
    asked = _value(f"{exchange.request.method} {exchange.request.target}")
    return f"#{number} on the hop {exchange.hop}: {asked}, {exchange.status or 'no status'}"


def _value(text: str) -> str:
    return shortened(one_line(text), _VALUE_CHARACTERS)
