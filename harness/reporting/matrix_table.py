"""The terminal's view of a matrix: what holds where, what could not be run, and what changed between versions."""

from __future__ import annotations

from rich import box
from rich.console import Console
from rich.padding import Padding
from rich.table import Table

from harness.matrix.report import Report, Section
from harness.matrix.steps import Step
from harness.reporting.matrix_words import (
    behaviour_words,
    cell_headline,
    cell_verdict,
    heading,
    matrix_headline,
    otherwise,
    verdict_changes,
)
from harness.reporting.table import STYLES, Shown
from harness.reporting.visible import one_line, shortened
from harness.verdict import CONFORMS

_TEXT_CHARACTERS = 160


def render_matrix(report: Report, console: Console) -> None:
    """Print the matrix; nothing that a target sent is read as markup or reaches the terminal as a control."""
    shown = Shown(console.encoding)
    for section in report.sections:
        console.print(shown.text(heading(section), "bold"))
        if section.requirements:
            console.print(_verdicts(section, shown))
        for outcome in section.outcomes:
            style = "green" if outcome.exit_code == CONFORMS else "red"
            console.print(shown.text(f"{outcome.task.version}: {cell_headline(outcome)}", style))
        for step in section.steps:
            _render_step(step, console, shown)
        console.print()
    console.print(shown.text(matrix_headline(report), "bold green" if report.exit_code == CONFORMS else "bold red"))


def _verdicts(section: Section, shown: Shown) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for name in ("requirement", "level", *(outcome.task.version for outcome in section.outcomes)):
        table.add_column(shown.text(name), no_wrap=True)
    for requirement in section.requirements:
        verdicts = [cell_verdict(outcome, requirement.id) for outcome in section.outcomes]
        cells = [shown.text(words, STYLES[status] if status else "yellow") for status, words in verdicts]
        table.add_row(shown.text(requirement.id), shown.text(requirement.level), *cells)
    return table


def _render_step(step: Step, console: Console, shown: Shown) -> None:
    old, new = step.old.task.version, step.new.task.version
    console.print()
    console.print(shown.text(f"from {old} to {new}: {behaviour_words(step)}", "bold"))
    for row in verdict_changes(step):
        console.print(shown.text(f"  {row.change}: {row.requirement.id}", "red" if row.decides else "yellow"))
    for one in otherwise(step):
        console.print(shown.text(f"  {one.id}: {one.title}"))
        lines = [(version, _short(text)) for version, text in ((old, one.before), (new, one.after)) if text]
        console.print(Padding(shown.lines(lines), (0, 0, 0, 4), expand=False))


def _short(text: str) -> str:
    return shortened(one_line(text), _TEXT_CHARACTERS)
