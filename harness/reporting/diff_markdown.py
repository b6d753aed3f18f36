"""A diff as Markdown, for a pull request: what changed first, then each change with the exchange that shows it.

It fits a comment: details are left out first, and it says so.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from harness.diff import Diff, RowChange
from harness.reporting.blocks import Detail, escaped, fenced, fitting, folded, table
from harness.reporting.changes import about, changed, headline, told, turned, verdicts


def diff_markdown(diff: Diff) -> str:
    """The whole document, in fewer than `harness.reporting.blocks.LIMIT` bytes."""
    return fitting(lambda detail: _blocks(diff, detail))


def _blocks(diff: Diff, detail: Detail) -> Iterator[str]:
    yield f"# {escaped(headline(diff))}"
    if detail.note:
        yield f"> To fit into a comment, {detail.note}; the results files have everything."
    yield table(("", ""), (("before", escaped(about(diff.old))), ("after", escaped(about(diff.new)))))
    rows = changed(diff)
    if rows:
        yield table(("change", "requirement", "level", "before", "after", "statement"), map(_line, rows))
        yield from changes(diff, rows, detail)


def changes(diff: Diff, rows: Iterable[RowChange], detail: Detail, heading: str = "##") -> Iterator[str]:
    """The checks that tell of each change, each with what was expected, what came and the exchange, folded away."""
    for row in rows:
        for check in row.checks:
            one = told(check, diff)
            yield f"{heading} {row.change}: {escaped(row.requirement.id)}: {escaped(one.title)}"
            yield turned(one)
            if one.account and detail.findings:
                yield fenced("\n".join(f"{name + ':':<10}{text}" for name, text in one.account.lines))
                for section in one.account.sections(detail.body) if detail.body is not None else ():
                    yield from folded(f"{one.of}: {section.heading}", fenced(section.text))


def _line(row: RowChange) -> tuple[str, ...]:
    before, after = verdicts(row)
    change = f"**{row.change}**" if row.decides else row.change
    id_, statement = escaped(row.requirement.id), escaped(row.requirement.statement)
    return change, id_, row.requirement.level, before, after, statement
