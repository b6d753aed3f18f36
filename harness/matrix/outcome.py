"""What became of each cell, and of the whole matrix."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from harness.errors import HarnessError, UsageError
from harness.matrix.child import Returned
from harness.matrix.folder import CELLS, kept
from harness.matrix.plan import Task
from harness.reporting.headline import judgement
from harness.results import RESULTS, read
from harness.verdict import Summary, summarise

WORST_FIRST = (130, 4, 2, 3, 6, 1, 5, 0)
"""Exit codes in the order in which they decide."""


@dataclass(frozen=True)
class Outcome:
    """A cell that was run, or could not be; `summary` is what its run says, None when `reason` tells why not."""

    task: Task
    exit_code: int
    summary: Summary | None
    reason: str
    seconds: float = 0.0
    node: str = ""


def worst(codes: Iterable[int]) -> int:
    """The exit code that decides: the first in the documented order, one that is not in it before all others."""
    return min(codes, key=lambda code: WORST_FIRST.index(code) if code in WORST_FIRST else -1)


def outcome_in(out: Path, task: Task) -> Outcome:
    """What became of a cell, by what is kept of it in the folder of a matrix."""
    returned = kept(out, task)
    if returned is None:
        return Outcome(task, HarnessError.exit_code, None, "it was not run")
    try:
        summary = summarise(read(out / CELLS / task.folder / RESULTS)) if returned.results else None
    except UsageError as error:
        return _failed(task, HarnessError.exit_code, error.message, returned)
    if summary is None or not summary.finished:
        return _failed(task, returned.exit_code or HarnessError.exit_code, _why(returned, summary), returned)
    code = worst((returned.exit_code, summary.exit_code))
    return Outcome(task, code, summary, "", returned.seconds, returned.node)


def _failed(task: Task, code: int, reason: str, returned: Returned) -> Outcome:
    return Outcome(task, code, None, reason, returned.seconds, returned.node)


def _why(returned: Returned, summary: Summary | None) -> str:
    said = judgement(summary) if summary else returned.said.strip() or f"it ended with exit code {returned.exit_code}"
    return "; ".join(filter(None, (returned.ended, said)))
