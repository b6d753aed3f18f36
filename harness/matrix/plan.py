"""What a matrix is made of: comparisons of several versions by one suite, and a cell for each version."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from harness.builtin import REFERENCE
from harness.cell import Cell

SECONDS = 1800.0
"""How long a cell may take unless the matrix says otherwise."""

TARGETS: Mapping[tuple[str, str], str] = {
    ("kilo", "kilo_cli"): "kilo@{version}",
    ("kilo", "kilo_agent"): "reference-kilo@{version}",
    ("opencode", "opencode_server"): "opencode@{version}",
    ("opencode", "agent_endpoint"): REFERENCE,
}
"""What a suite judges to judge a version of a binary: the binary itself, or what stands before it."""

BEFORE = "agent_endpoint"
"""The suite whose target is told by an option which opencode stands behind it, and so may be any."""


@dataclass(frozen=True)
class Task:
    """A cell of the matrix: a version, and how it is judged.

    `binary` is what is fetched, such as `kilo@7.7.9`; `arguments` are those of `turnproof run`, without `--out`.
    """

    cell: Cell
    version: str
    binary: str
    arguments: tuple[str, ...]

    @property
    def folder(self) -> str:
        """The name of the cell's own folder; no two cells of a matrix have the same."""
        before = f"-before-{self.binary}" if self.cell.suite == BEFORE else ""
        return self.cell.slug + before

    def __str__(self) -> str:
        return f"{self.cell} before {self.binary}" if self.cell.suite == BEFORE else str(self.cell)


@dataclass(frozen=True)
class Comparison:
    """One suite on several versions of a binary, the oldest first; `checks` chooses among its checks."""

    binary: str
    suite: str
    versions: tuple[str, ...]
    target: str | None = None
    checks: str = ""
    strict: bool = False
    require_all: bool = False

    @property
    def tasks(self) -> tuple[Task, ...]:
        """A cell for each version, in their order."""
        return tuple(map(self._task, self.versions))

    def _task(self, version: str) -> Task:
        target = (self.target or TARGETS[self.binary, self.suite]).replace("{version}", version)
        return Task(
            Cell(self.suite, target), version, f"{self.binary}@{version}", tuple(self._arguments(target, version))
        )

    def _arguments(self, target: str, version: str) -> Iterator[str]:
        yield from ("run", "--suite", self.suite, "--target", target)
        if self.suite == BEFORE:
            yield from ("--opencode", version)
        if self.checks:
            yield from ("-k", self.checks)
        if self.strict:
            yield "--strict"
        if self.require_all:
            yield "--require-all"


@dataclass(frozen=True)
class Matrix:
    """Several comparisons; each cell may take `within` seconds."""

    name: str
    comparisons: tuple[Comparison, ...]
    within: float = SECONDS

    @property
    def tasks(self) -> tuple[Task, ...]:
        """All cells."""
        return tuple(task for comparison in self.comparisons for task in comparison.tasks)
