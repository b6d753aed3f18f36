"""`summary.md`: the run as a pull request, a step summary or a person reads it.

It always fits the 65,536 characters of a comment on GitHub: bodies are shortened first, then exchanges, then findings
are left out, and it says so. What the target sent stands in fences that it cannot break out of.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from harness.reporting.blocks import LIMIT, Detail, escaped, fenced, fitting, folded, table
from harness.reporting.findings import (
    account,
    by_waivers,
    failing,
    ids,
    levels,
    reason,
    unmeasured,
    waived,
    waivers_to_mend,
)
from harness.reporting.headline import headline
from harness.verdict import Checked, Row, Summary

_STRAYS = 50


def markdown(summary: Summary, limit: int = LIMIT) -> str:
    """The whole document, in fewer than `limit` bytes."""
    return fitting(lambda detail: _blocks(summary, detail), limit)


def _blocks(summary: Summary, detail: Detail) -> Iterator[str]:
    yield f"# {escaped(headline(summary))}"
    if detail.note:
        yield f"> So that it can be shown, {detail.note}; the results file has everything."
    yield _about(summary)
    yield table(
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
        ("suite", ", ".join(filter(None, (header.suite, str(header.share))))),
        ("run", f"{header.run}, seed {header.seed}, {header.started}"),
        ("turnproof", header.harness + "".join(f", {option}" for option in options)),
        *((f"part {part.get('name', '?')}", _part(part)) for part in header.parts),
    )
    return table(("", ""), ((name, escaped(value)) for name, value in facts))


def _part(part: Mapping[str, str]) -> str:
    return ", ".join(value for key, value in part.items() if key != "name")


def _requirement_row(row: Row) -> tuple[str, ...]:
    requirement = row.requirement
    in_part = f" ({len(row.unmeasured)} not measured)" if row.verdict == "pass" and row.unmeasured else ""
    verdict = row.verdict + in_part if row.verdict in ("pass", "not-applicable") else f"**{row.verdict}**"
    passed = f"{row.passed} of {len(row.checks)}"
    return (
        escaped(requirement.group),
        escaped(requirement.id),
        requirement.level,
        verdict,
        passed,
        escaped(requirement.statement),
    )


def _failures(summary: Summary, detail: Detail) -> Iterator[str]:
    groups = failing(summary)
    if groups:
        yield "## Failures"
    for checked, *others in groups:
        beside = "" if summary.check_decides(checked) else ", does not decide"
        yield f"### {escaped(ids(checked))}: {escaped(checked.title)} ({levels(checked)}, {checked.status}{beside})"
        if detail.findings:
            yield from _finding(checked, summary, detail)
        if others and detail.findings:
            yield f"The same in {len(others)} more: {'; '.join(escaped(other.title) for other in others)}"


def _finding(checked: Checked, summary: Summary, detail: Detail) -> Iterator[str]:
    told = account(checked, summary)
    yield fenced("\n".join(f"{name + ':':<10}{text}" for name, text in told.lines))
    if detail.body is not None:
        for section in told.sections(detail.body):
            yield from folded(section.heading, fenced(section.text))


def _waivers(summary: Summary) -> Iterator[str]:
    checks, told = waived(summary), waivers_to_mend(summary)
    if checks:
        yield "## Waived"
        yield "\n".join(f"- {escaped(ids(c))}: {escaped(c.title)} - {escaped(by_waivers(c))}" for c in checks)
    if told:
        yield "## Waivers to mend"
        yield "\n".join(f"- {escaped(line)}" for line in told)


def _unmeasured(summary: Summary) -> Iterator[str]:
    checks = unmeasured(summary)
    if checks:
        yield "## Not measured"
        yield "\n".join(f"- {escaped(ids(c))}: {escaped(c.title)} - {escaped(reason(c))}" for c in checks)


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
    asked = escaped(f"{exchange.request.method} {exchange.request.target}")
    return f"\\#{number} on the hop {exchange.hop}: {asked}, {status}"
