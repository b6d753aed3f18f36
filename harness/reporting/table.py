"""The terminal's view: a table of requirements, each kind of failure with an exchange that shows it, the headline."""

from __future__ import annotations

from collections.abc import Iterable

from rich import box
from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from harness.reporting.findings import (
    Section,
    account,
    alike,
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
from harness.reporting.visible import one_line, shortened
from harness.verdict import CONFORMS, Checked, Row, Status, Summary

_BODY_CHARACTERS = 800
# A first run of an endpoint may have a hundred failures, and nobody reads on after a few screens.
_WHOLE_FAILURES = 10
_SHORT = 200
STYLES: dict[Status, str] = {
    "error": "bold magenta",
    "fail": "bold red",
    "inconclusive": "yellow",
    "not-run": "yellow",
    "waived": "cyan",
    "pass": "green",
    "not-measured": "yellow",
    "not-applicable": "dim",
}


def render(summary: Summary, console: Console) -> None:
    """Print the summary; nothing that the target sent is read as markup or reaches the terminal as a control."""
    view = _View(summary, console.encoding)
    if summary.made:
        console.print(view.table())
    groups = failing(summary)
    for number, (first, *others) in enumerate(groups):
        console.print(view.failure(first, whole=number < _WHOLE_FAILURES))
        if others:
            titles = "; ".join(checked.title for checked in others)
            console.print(view.text(f"  the same in {len(others)} more: {titles}", "dim"))
    console.print()
    if (more := len(groups) - _WHOLE_FAILURES) > 0:
        told = f"of {more} more failures the exchanges are in the reports; -k with a requirement shows those of one"
        console.print(view.text(told, "dim"))
    for checked in waived(summary):
        console.print(view.text(f"waived {by_waivers(checked)}: {ids(checked)} {checked.title}", "cyan"))
    for told in waivers_to_mend(summary):
        console.print(view.text(told, "yellow"))
    for group in alike(unmeasured(summary)):
        titles = "; ".join(checked.title for checked in group)
        console.print(view.text(f"not measured: {ids(group[0])} {titles}: {reason(group[0])}", "yellow"))
    if summary.results.strays:
        numbers = ", ".join(f"#{number}" for number in summary.results.strays)
        console.print(view.text(f"exchanges outside the check they belong to: {numbers}", "yellow"))
    console.print()
    console.print(view.text(headline(summary), "bold green" if summary.exit_code == CONFORMS else "bold red"))


class Shown:
    """Text for a terminal, never read as markup; characters that the terminal's encoding lacks are written out."""

    def __init__(self, encoding: str) -> None:
        self._encoding = encoding

    def text(self, text: str, style: str = "") -> Text:
        """`text` in one line as it is."""
        return Text(self._encodable(one_line(text)), style)

    def block(self, text: str) -> Text:
        """`text` as it is, with its lines."""
        return Text(self._encodable(text))

    def lines(self, lines: Iterable[tuple[str, str]]) -> Table:
        """Lines of name and text, the texts one under the other."""
        grid = Table.grid(padding=(0, 1))
        for name, text in lines:
            grid.add_row(self.text(name, "dim"), self.block(text))
        return grid

    def section(self, section: Section) -> RenderableType:
        """A text under its heading, set apart from what is before."""
        heading = self.text(f"{section.heading}:", "dim")
        return Padding(Group(heading, Padding(self.block(section.text), (0, 0, 0, 2))), (1, 0, 0, 2), expand=False)

    def _encodable(self, text: str) -> str:
        return text.encode(self._encoding, "backslashreplace").decode(self._encoding)


class _View(Shown):
    """The parts of the view."""

    def __init__(self, summary: Summary, encoding: str) -> None:
        super().__init__(encoding)
        self._summary = summary

    def table(self) -> Table:
        """The requirements, a section for each group."""
        table = Table(box=box.SIMPLE_HEAD, pad_edge=False, collapse_padding=True)
        table.add_column("requirement", no_wrap=True)
        table.add_column("level", no_wrap=True)
        table.add_column("verdict", no_wrap=True)
        table.add_column("passed", no_wrap=True, justify="right")
        table.add_column("statement", ratio=1)
        group = None
        for row in self._summary.rows:
            if group not in (None, row.requirement.group):
                table.add_section()
            group = row.requirement.group
            table.add_row(*self._cells(row))
        return table

    def failure(self, checked: Checked, whole: bool) -> Group:
        """One failing check: what was expected, what came, how to mend it, and when `whole` what belongs to it."""
        told = account(checked, self._summary)
        lines = told.lines if whole else tuple((name, shortened(text, _SHORT)) for name, text in told.lines)
        beside = "" if self._summary.check_decides(checked) else ", does not decide"
        title = Text.assemble(
            self.text(f"{checked.status} ", STYLES[checked.status]),
            self.text(f"{ids(checked)} ({levels(checked)}{beside}): {checked.title}", "bold"),
        )
        parts: list[RenderableType] = [Text(), title, Padding(self.lines(lines), (0, 0, 0, 2), expand=False)]
        if whole:
            parts += map(self.section, told.sections(_BODY_CHARACTERS))
        return Group(*parts)

    def _cells(self, row: Row) -> tuple[Text, ...]:
        passed = f"{row.passed}/{len(row.checks)}"
        return (
            self.text(row.requirement.id),
            self.text(row.requirement.level),
            self.text(row.verdict, STYLES[row.verdict]),
            self.text(passed, "" if row.passed == len(row.checks) else "yellow"),
            self.text(row.requirement.statement),
        )
