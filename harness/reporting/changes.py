"""What there is to say about the changes between two runs, in the words that all reports share."""

from __future__ import annotations

from dataclasses import dataclass

from harness.diff import CHANGES, CheckChange, Diff, RowChange
from harness.reporting.findings import Account, account
from harness.reporting.headline import in_part
from harness.verdict import CONFORMS, Checked, Status, Summary

_ACCOUNTED = ("error", "fail", "inconclusive", "waived", "not-measured")
_ABSENT = "not there"


@dataclass(frozen=True)
class Told:
    """A check of a changed requirement: its verdicts, and why it did not pass, in the newer run if it did not there.

    `of` says which of the two runs the account is from; `account` is None when it passed in both that have it.
    """

    title: str
    old: Status | None
    new: Status | None
    of: str
    account: Account | None


def headline(diff: Diff) -> str:
    """One line such as `regressed: 1 that decides (2 regressed, 1 mended, 70 unchanged)`."""
    counts = [(len(diff.of(change)), change) for change in CHANGES]
    said = ", ".join(f"{count} {change}" for count, change in counts if count) or "no requirement"
    if diff.exit_code == CONFORMS:
        none = "no regression that decides" if diff.of("regressed") else "no regression"
        return f"{none} ({said}){in_part(diff.new)}"
    deciding = sum(row.decides for row in diff.rows)
    return f"regressed: {deciding} that {'decides' if deciding == 1 else 'decide'} ({said}){in_part(diff.new)}"


def changed(diff: Diff) -> tuple[RowChange, ...]:
    """The requirements that are worth a line, the gravest change first."""
    return tuple(row for change in CHANGES if change != "unchanged" for row in diff.of(change))


def verdicts(row: RowChange) -> tuple[str, str]:
    """The verdicts of a requirement before and after, each with how many of its checks passed."""
    shown = [f"{run.verdict} {run.passed}/{len(run.checks)}" if run else _ABSENT for run in (row.old, row.new)]
    return shown[0], shown[1]


def told(change: CheckChange, diff: Diff) -> Told:
    """What there is to say about one check."""
    sides = (("after", change.new, diff.new), ("before", change.old, diff.old))
    of, found = next(
        ((of, account(checked, run)) for of, checked, run in sides if checked and checked.status in _ACCOUNTED),
        ("after", None),
    )
    return Told(change.title, _status(change.old), _status(change.new), of, found)


def turned(told: Told) -> str:
    """The verdicts of a check in words, and of which run the account is that follows."""
    words = f"{told.old or _ABSENT} before, {told.new or _ABSENT} after"
    return f"{words}; what came before:" if told.account and told.of == "before" else words


def about(summary: Summary) -> str:
    """A run in one line: what was judged, when, by which version, with which real parts in the chain."""
    header = summary.results.header
    parts = "".join(f", {part.get('name', '?')} {part.get('version', '')}".rstrip() for part in header.parts)
    return f"{header.target.name} ({header.suite}{parts}), {header.started}, turnproof {header.harness}"


def _status(checked: Checked | None) -> Status | None:
    return checked.status if checked else None
