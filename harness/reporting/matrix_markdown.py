"""A matrix as Markdown: what holds where, and what changed between which versions, with the exchange that shows it."""

from __future__ import annotations

from collections.abc import Iterator

from harness.matrix.outcome import Outcome
from harness.matrix.report import Report, Section
from harness.matrix.steps import Step
from harness.reporting.blocks import Detail, escaped, fenced, fitting, folded, table
from harness.reporting.diff_markdown import changes
from harness.reporting.matrix_words import (
    Otherwise,
    behaviour_words,
    cell_headline,
    cell_verdict,
    heading,
    matrix_headline,
    otherwise,
    verdict_changes,
)
from harness.reporting.transcript import transcript
from harness.reporting.visible import shortened

_INTRO = (
    "Made by `turnproof matrix`: each version is judged by a run of its own, and held to what it was recorded to do."
)
_TEXT_CHARACTERS = 400
_DIGEST_CHARACTERS = 16


def matrix_markdown(report: Report) -> str:
    """The whole document, in fewer than `harness.reporting.blocks.LIMIT` bytes."""
    return fitting(lambda detail: _blocks(report, detail))


def _blocks(report: Report, detail: Detail) -> Iterator[str]:
    yield f"# {escaped(report.matrix.name)}: {matrix_headline(report)}"
    yield _INTRO
    if detail.note:
        yield f"> So that it fits, {detail.note}; the results files of the cells have everything."
    for section in report.sections:
        yield f"## {escaped(heading(section))}"
        yield _verdicts(section)
        yield table(
            ("version", "what it comes to", "took", "run", "sha256 of the binary"), map(_cell, section.outcomes)
        )
        for step in section.steps:
            yield from _step(step, detail)


def _verdicts(section: Section) -> str:
    versions = tuple(escaped(outcome.task.version) for outcome in section.outcomes)
    rows = (
        (
            escaped(requirement.id),
            requirement.level,
            *(_verdict(outcome, requirement.id) for outcome in section.outcomes),
            escaped(requirement.statement),
        )
        for requirement in section.requirements
    )
    return table(("requirement", "level", *versions, "statement"), rows)


def _verdict(outcome: Outcome, id_: str) -> str:
    status, words = cell_verdict(outcome, id_)
    return words if status in ("pass", "not-applicable") else f"**{words}**"


def _cell(outcome: Outcome) -> tuple[str, ...]:
    header = outcome.summary.results.header if outcome.summary else None
    binary = next((part for part in header.parts if part.get("version") == outcome.task.version), {}) if header else {}
    return (
        escaped(outcome.task.version),
        escaped(cell_headline(outcome)),
        f"{outcome.seconds:.0f} s",
        escaped(f"{header.run}, {header.started}") if header else "none",
        escaped(binary.get("sha256", "unknown")[:_DIGEST_CHARACTERS]),
    )


def _step(step: Step, detail: Detail) -> Iterator[str]:
    yield f"### From {escaped(step.old.task.version)} to {escaped(step.new.task.version)}"
    changed = verdict_changes(step)
    yield f"Verdicts that changed: {len(changed) or 'none'}. {escaped(behaviour_words(step))}"
    yield from changes(step.verdicts, changed, detail, "####")
    for one in otherwise(step):
        yield f"#### {escaped(one.id)}: {escaped(one.title)}"
        if detail.findings:
            yield from _otherwise(one, step, detail)


def _otherwise(one: Otherwise, step: Step, detail: Detail) -> Iterator[str]:
    old, new = step.old.task.version, step.new.task.version
    width = max(len(old), len(new)) + 2
    lines = [f"{old + ':':<{width}}{shortened(one.before, _TEXT_CHARACTERS)}"] if one.before else []
    yield fenced("\n".join([*lines, f"{new + ':':<{width}}{shortened(one.after, _TEXT_CHARACTERS)}"]))
    if one.exchange and detail.body is not None:
        which = "the exchange" if one.named else "the longest exchange of the check"
        body = fenced(transcript(one.exchange, detail.body))
        yield from folded(f"{which}, #{one.exchange.number} of {escaped(new)}", body)
