"""What changed from one run to another: by requirement, and where it matters by check.

A requirement is `regressed` when it was kept and is broken now, or when a check of it that held no longer does; also
when what a waiver accepted fails differently. It is `mended` when it was broken, or waived, and is kept, and `still
failing` when it was and is neither. It is `no longer measured` or `measured now` when it could be asked in one of the
runs alone, and `new` or `gone` when one of the runs alone lists it.

What decides is what decides in a run: a regressed requirement counts when the newer run counts it against conformance,
so a SHOULD with `--strict` only, one that is waived not at all, and one that is no longer measured with `--require-all`
only. A requirement that is new or measured now was never kept, so it is no regression; the newer run's own exit code
tells of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from harness.errors import UsageError
from harness.requirements import Requirement
from harness.results import RESULTS, read
from harness.verdict import CONFORMS, DOES_NOT_CONFORM, Checked, Row, Summary, summarise

Change = Literal[
    "regressed", "still failing", "no longer measured", "mended", "measured now", "new", "gone", "unchanged"
]

CHANGES: tuple[Change, ...] = (
    "regressed",
    "still failing",
    "no longer measured",
    "mended",
    "measured now",
    "new",
    "gone",
    "unchanged",
)
"""All changes, the gravest first."""

_Grade = Literal["kept", "accepted", "broken", "unasked"]

_GRADES: Mapping[str, _Grade] = {
    "pass": "kept",
    "waived": "accepted",
    "fail": "broken",
    "inconclusive": "broken",
    "error": "broken",
    "not-run": "broken",
    "not-measured": "unasked",
    "not-applicable": "unasked",
}


@dataclass(frozen=True)
class CheckChange:
    """A check before and after; None where that run does not have it."""

    old: Checked | None
    new: Checked | None

    @property
    def title(self) -> str:
        """The check's name as a sentence, as the newest run has it that knows it."""
        found = self.new or self.old
        assert found is not None
        return found.title

    @property
    def differs(self) -> bool:
        """Whether the verdict, or being there at all, changed."""
        return _status(self.old) != _status(self.new)

    @property
    def broke(self) -> bool:
        """Whether it held, or failed in an accepted way, and does neither now."""
        return _grade(self.old) in ("kept", "accepted") and _grade(self.new) == "broken"

    @property
    def mended(self) -> bool:
        """Whether it failed, in an accepted way or not, and holds now."""
        return _grade(self.old) in ("accepted", "broken") and _grade(self.new) == "kept"


@dataclass(frozen=True)
class RowChange:
    """A requirement before and after, as the newest run states it.

    `decides`: whether it makes the newer run worse than the older one. `checks` are those that tell of the change: each
    that differs, and each that fails now.
    """

    requirement: Requirement
    change: Change
    decides: bool
    old: Row | None
    new: Row | None
    checks: tuple[CheckChange, ...]


@dataclass(frozen=True)
class Diff:
    """Two runs and what changed between them, in the order of the newer catalogue; what is gone comes last."""

    old: Summary
    new: Summary
    rows: tuple[RowChange, ...]

    @property
    def exit_code(self) -> int:
        """1 when something decides, else 0."""
        return DOES_NOT_CONFORM if any(row.decides for row in self.rows) else CONFORMS

    def of(self, change: Change) -> tuple[RowChange, ...]:
        """The requirements that changed in that way."""
        return tuple(row for row in self.rows if row.change == change)


def run_in(path: Path) -> Summary:
    """What the run says whose results file, or folder with it, is at `path`; raises UsageError as reading does."""
    return summarise(read(path / RESULTS if path.is_dir() else path))


def compare(old: Summary, new: Summary) -> Diff:
    """What changed from `old` to `new`.

    Raises UsageError when a run did not finish, or when the two are of different suites.
    """
    for name, summary in (("older", old), ("newer", new)):
        if not summary.finished:
            hint = "compare runs whose results file has a footer with all checks run"
            raise UsageError(f"the {name} run did not finish", hint)
    suites = old.results.header.suite, new.results.header.suite
    if suites[0] != suites[1]:
        raise UsageError(
            f"the older run is of suite {suites[0]}, the newer of {suites[1]}", "compare runs of one suite"
        )
    before = {row.requirement.id: row for row in old.rows}
    after = {row.requirement.id: row for row in new.rows}
    return Diff(old, new, tuple(_row(before.get(id_), after.get(id_), new) for id_ in dict.fromkeys((*after, *before))))


def _row(old: Row | None, new: Row | None, run: Summary) -> RowChange:
    row = new or old
    assert row is not None
    checks = _checks(old, new)
    change = _change(old, new, checks)
    decides = change in ("regressed", "no longer measured") and new is not None and run.row_decides(new)
    return RowChange(row.requirement, change, decides, old, new, _telling(change, checks))


def _change(old: Row | None, new: Row | None, checks: tuple[CheckChange, ...]) -> Change:
    if old is None:
        return "new"
    if new is None:
        return "gone"
    before, after = _GRADES[old.verdict], _GRADES[new.verdict]
    if after == "kept":
        return _kept(before, checks)
    if after == "unasked":
        return "unchanged" if before == "unasked" else "no longer measured"
    if before == "unasked":
        return "measured now"
    lost = before == "kept" or (after == "broken" and (before == "accepted" or any(check.broke for check in checks)))
    return "regressed" if lost else "still failing"


def _kept(before: _Grade, checks: tuple[CheckChange, ...]) -> Change:
    """What became of a requirement that is kept now: also one that is kept may be measured in fewer parts."""
    if before == "kept":
        lost = any(_grade(check.old) == "kept" and _grade(check.new) == "unasked" for check in checks)
        return "no longer measured" if lost else "unchanged"
    return "measured now" if before == "unasked" else "mended"


def _checks(old: Row | None, new: Row | None) -> tuple[CheckChange, ...]:
    before = {checked.check: checked for checked in old.checks} if old else {}
    after = {checked.check: checked for checked in new.checks} if new else {}
    return tuple(CheckChange(before.get(check), after.get(check)) for check in dict.fromkeys((*after, *before)))


def _telling(change: Change, checks: tuple[CheckChange, ...]) -> tuple[CheckChange, ...]:
    if change in ("unchanged", "gone"):
        return ()
    if change == "new":
        return tuple(check for check in checks if _fails(check.new))
    return tuple(check for check in checks if check.differs or _fails(check.new))


def _fails(checked: Checked | None) -> bool:
    return _grade(checked) in ("broken", "accepted")


def _status(checked: Checked | None) -> str | None:
    return checked.status if checked else None


def _grade(checked: Checked | None) -> _Grade | None:
    return _GRADES[checked.status] if checked else None
