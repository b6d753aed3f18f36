"""The terminal's view of a diff: what changed, each change with what was expected, what came and the exchange.

A check that fails as before is counted; the newer run's own reports show it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from rich import box
from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table

from harness.diff import Change, Diff, RowChange
from harness.reporting.changes import Told, about, changed, headline, told, turned, verdicts
from harness.reporting.table import Shown
from harness.verdict import CONFORMS

_BODY_CHARACTERS = 800
_ROOMY = 96
"""Columns from which on there is room for the statements of requirements."""
_STYLES: dict[Change, str] = {
    "regressed": "bold red",
    "still failing": "red",
    "no longer measured": "yellow",
    "mended": "green",
    "measured now": "cyan",
    "new": "cyan",
    "gone": "yellow",
    "unchanged": "dim",
}


def render_diff(diff: Diff, console: Console) -> None:
    """Print the diff; nothing that a target sent is read as markup or reaches the terminal as a control."""
    shown = Shown(console.encoding)
    for name, run in (("before", diff.old), ("after", diff.new)):
        console.print(shown.text(f"{name:8}{about(run)}", "dim"), soft_wrap=True)
    rows = changed(diff)
    if rows:
        console.print(_table(rows, shown, stated=console.width >= _ROOMY))
    for row in rows:
        for part in _details(row, diff, shown):
            console.print(part)
    console.print()
    if same := sum(not check.differs for row in rows for check in row.checks):
        fails = "1 check fails" if same == 1 else f"{same} checks fail"
        console.print(shown.text(f"{fails} as before: the reports of the newer run show why", "dim"), soft_wrap=True)
    console.print(shown.text(headline(diff), "bold green" if diff.exit_code == CONFORMS else "bold red"))


def _table(rows: tuple[RowChange, ...], shown: Shown, stated: bool) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for name in ("change", "requirement", "level", "before", "after"):
        table.add_column(name, no_wrap=True)
    if stated:
        table.add_column("statement", ratio=1)
    for row in rows:
        before, after = verdicts(row)
        table.add_row(
            shown.text(row.change, _STYLES[row.change]),
            shown.text(row.requirement.id),
            shown.text(row.requirement.level),
            shown.text(before),
            shown.text(after),
            *([shown.text(row.requirement.statement)] if stated else []),
        )
    return table


def _details(row: RowChange, diff: Diff, shown: Shown) -> Iterator[RenderableType]:
    for check in row.checks:
        if check.differs:
            yield _detail(row, told(check, diff), shown, "mended" if check.mended else row.change)


def _detail(row: RowChange, check: Told, shown: Shown, change: Change) -> Group:
    beside = ", does not decide" if row.change == "regressed" and not row.decides else ""
    title = f"{row.requirement.id} ({row.requirement.level}{beside}): {check.title}"
    parts: list[RenderableType] = [
        shown.text(""),
        shown.text(f"{change} ", _STYLES[change]) + shown.text(title, "bold"),
        Padding(shown.text(turned(check)), (0, 0, 0, 2)),
    ]
    if check.account:
        parts.append(Padding(shown.lines(check.account.lines), (0, 0, 0, 2), expand=False))
        for section in check.account.sections(_BODY_CHARACTERS):
            parts.append(shown.section(replace(section, heading=f"{check.of}: {section.heading}")))
    return Group(*parts)
