"""What a matrix says: derived from the folder of its cells, and from nothing else."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from harness.matrix.outcome import Outcome, outcome_in, worst
from harness.matrix.plan import Comparison, Matrix
from harness.matrix.steps import Step, steps
from harness.requirements import Requirement


@dataclass(frozen=True)
class Section:
    """A comparison with what became of each of its cells, and what changed from version to version."""

    comparison: Comparison
    outcomes: tuple[Outcome, ...]
    steps: tuple[Step, ...]

    @property
    def requirements(self) -> tuple[Requirement, ...]:
        """The requirements of all cells, in the order of the catalogue; as the newest version was judged by them."""
        rows = [row.requirement for outcome in self.outcomes if outcome.summary for row in outcome.summary.rows]
        return tuple({row.id: row for row in rows}.values())


@dataclass(frozen=True)
class Report:
    """All that a matrix says."""

    matrix: Matrix
    sections: tuple[Section, ...]

    @property
    def outcomes(self) -> tuple[Outcome, ...]:
        """All cells."""
        return tuple(outcome for section in self.sections for outcome in section.outcomes)

    @property
    def exit_code(self) -> int:
        """The worst of all cells: the first in the order 130, 4, 2, 3, 6, 1, 5, 0."""
        return worst(outcome.exit_code for outcome in self.outcomes)


def report_in(out: Path, matrix: Matrix) -> Report:
    """What the cells say that are kept in the folder of a matrix; those that are not there were not run."""
    return Report(matrix, tuple(_section(comparison, out) for comparison in matrix.comparisons))


def _section(comparison: Comparison, out: Path) -> Section:
    outcomes = tuple(outcome_in(out, task) for task in comparison.tasks)
    return Section(comparison, outcomes, steps(outcomes))
