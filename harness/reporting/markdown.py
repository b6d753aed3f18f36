"""`summary.md`: the run as a pull request, a step summary or a person reads it.

It always fits the 65,536 characters of a comment on GitHub: bodies are shortened first, then exchanges, then findings
are left out, and it says so. What the target sent stands in fences that it cannot break out of.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from harness.reporting.findings import (
    account,
    by_waivers,
    failures,
    ids,
    levels,
    reason,
    unmeasured,
    waived,
    waivers_to_mend,
)
from harness.reporting.headline import headline
from harness.reporting.transcript import transcript
from harness.reporting.visible import one_line, shortened
from harness.verdict import Checked, Row, Summary

LIMIT = 65_536
"""No summary has this many bytes of UTF-8, and so none has this many characters."""

_CELL_CHARACTERS = 300
_STRAYS = 50
_SPECIAL = re.compile(r"([\\`*_{}\[\]<>|#!~&$])")
_CUT = "\n\n**Cut off here: the rest did not fit.**\n"


@dataclass(frozen=True)
class _Detail:
    """How much is shown; `body` is in characters, None leaves the exchanges out; `note` says what is missing."""

    body: int | None
    findings: bool
    note: str


_DETAILS = (
    _Detail(2000, True, ""),
    _Detail(600, True, "bodies are shortened further"),
    _Detail(150, True, "bodies are shortened to a few words"),
    _Detail(None, True, "the exchanges are left out"),
    _Detail(None, False, "findings and exchanges are left out"),
)


def markdown(summary: Summary, limit: int = LIMIT) -> str:
    """The whole document, in fewer than `limit` bytes."""
    for detail in _DETAILS:
        text = "\n\n".join(_blocks(summary, detail)) + "\n"
        if _size(text) < limit:
            return text
    kept = text.encode("utf-8")[: limit - len(_CUT) - 1].decode("utf-8", "ignore")
    return kept[: kept.rindex("\n")] + _CUT


def _blocks(summary: Summary, detail: _Detail) -> Iterator[str]:
    yield f"# {_text(headline(summary))}"
    if detail.note:
        yield f"> So that it can be shown, {detail.note}; the results file has everything."
    yield _about(summary)
    yield _table(
        ("group", "requirement", "level", "verdict", "checks passed", "statement"), map(_requirement_row, summary.rows)
    )
    yield from _failures(summary, detail)
    yield from _waivers(summary)
    yield from _unmeasured(summary)
    yield from _strays(summary)


def _about(summary: Summary) -> str:
    header = summary.results.header
    options = [name for name, on in (("strict", header.strict), ("require all", header.require_all)) if on]
    facts = (
        ("target", f"{header.target.name} ({header.target.kind})"),
        ("suite", header.suite),
        ("run", f"{header.run}, seed {header.seed}, {header.started}"),
        ("turnproof", header.harness + "".join(f", {option}" for option in options)),
        *((f"part {part.get('name', '?')}", _part(part)) for part in header.parts),
    )
    return _table(("", ""), ((name, _text(value)) for name, value in facts))


def _part(part: Mapping[str, str]) -> str:
    return ", ".join(value for key, value in part.items() if key != "name")


def _requirement_row(row: Row) -> tuple[str, ...]:
    requirement = row.requirement
    in_part = f" ({len(row.unmeasured)} not measured)" if row.verdict == "pass" and row.unmeasured else ""
    verdict = row.verdict + in_part if row.verdict in ("pass", "not-applicable") else f"**{row.verdict}**"
    passed = f"{row.passed} of {len(row.checks)}"
    return (
        _text(requirement.group),
        _text(requirement.id),
        requirement.level,
        verdict,
        passed,
        _text(requirement.statement),
    )


def _failures(summary: Summary, detail: _Detail) -> Iterator[str]:
    failed = failures(summary)
    if failed:
        yield "## Failures"
    for checked in failed:
        beside = "" if summary.check_decides(checked) else ", does not decide"
        yield f"### {_text(ids(checked))}: {_text(checked.title)} ({levels(checked)}, {checked.status}{beside})"
        if detail.findings:
            yield from _finding(checked, summary, detail)


def _finding(checked: Checked, summary: Summary, detail: _Detail) -> Iterator[str]:
    told = account(checked, summary)
    yield _fenced("\n".join(f"{name + ':':<10}{text}" for name, text in told.lines))
    if told.exchange and detail.body is not None:
        yield f"<details><summary>the exchange that shows it, #{told.exchange.number}</summary>"
        yield _fenced(transcript(told.exchange, detail.body))
        yield "</details>"


def _waivers(summary: Summary) -> Iterator[str]:
    checks, told = waived(summary), waivers_to_mend(summary)
    if checks:
        yield "## Waived"
        yield "\n".join(f"- {_text(ids(c))}: {_text(c.title)} - {_text(by_waivers(c))}" for c in checks)
    if told:
        yield "## Waivers to mend"
        yield "\n".join(f"- {_text(line)}" for line in told)


def _unmeasured(summary: Summary) -> Iterator[str]:
    checks = unmeasured(summary)
    if checks:
        yield "## Not measured"
        yield "\n".join(f"- {_text(ids(c))}: {_text(c.title)} - {_text(reason(c))}" for c in checks)


def _strays(summary: Summary) -> Iterator[str]:
    strays = summary.results.strays
    if strays:
        yield "## Strays"
        yield "These exchanges came outside the check that they belong to, such as those of a turn that runs on:"
        lines = [f"- {_stray(number, summary)}" for number in strays[:_STRAYS]]
        yield "\n".join([*lines, *([f"- and {len(strays) - _STRAYS} more"] if len(strays) > _STRAYS else [])])


def _stray(number: int, summary: Summary) -> str:
    exchange = summary.results.exchanges[number]
    status = "no status" if exchange.status is None else exchange.status
    asked = _text(f"{exchange.request.method} {exchange.request.target}")
    return f"\\#{number} on the hop {exchange.hop}: {asked}, {status}"


def _table(columns: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    lines = (f"| {' | '.join(cells)} |" for cells in (columns, ("---",) * len(columns), *rows))
    return "\n".join(lines)


def _fenced(text: str) -> str:
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}text\n{text}\n{fence}"


def _text(text: str) -> str:
    return _SPECIAL.sub(r"\\\1", shortened(one_line(text), _CELL_CHARACTERS))


def _size(text: str) -> int:
    return len(text.encode("utf-8"))
