"""Are the checks worth anything? Every mutant must be caught, by exactly the requirements that it names."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.builtin import find_target
from harness.errors import UsageError
from harness.mutants import endpoint, kilo_agent, kilo_cli, model, opencode
from harness.mutants.mutant import Mutant
from harness.run import Observer, Order, run
from harness.verdict import summarise

_BROKEN = ("fail", "inconclusive", "error", "not-run")


@dataclass(frozen=True)
class Family:
    """The broken implementations that a suite must catch; the name of each as a target begins with `prefix`."""

    suite: str
    prefix: str
    mutants: tuple[Mutant[Any], ...]

    def find(self, name: str) -> Mutant[Any]:
        """The mutant of that name; raises UsageError."""
        for mutant in self.mutants:
            if mutant.name == name:
                return mutant
        known = ", ".join(mutant.name for mutant in self.mutants)
        raise UsageError(f"{self.suite} knows no mutant {name!r}", f"Known: {known}.")


FAMILIES = (
    Family("agent_endpoint", "mutant:", endpoint.MUTANTS),
    Family("opencode_server", "opencode-flaw:", opencode.FLAWS),
    Family("model_server", "model-flaw:", model.FLAWS),
    Family("kilo_cli", "kilo-flaw:", kilo_cli.FLAWS),
    Family("kilo_agent", "kilo-mutant:", kilo_agent.MUTANTS),
)


def family_of(suite: str) -> Family:
    """The broken implementations of a suite; raises UsageError when it has none."""
    for family in FAMILIES:
        if family.suite == suite:
            return family
    raise UsageError(f"there are no mutants for a suite {suite!r}", f"{', '.join(f.suite for f in FAMILIES)} have some")


@dataclass(frozen=True)
class Catch:
    """What a run on a mutant came to: the requirements whose checks did not hold, against those it names."""

    mutant: Mutant[Any]
    broken: frozenset[str]

    @property
    def missed(self) -> frozenset[str]:
        """Requirements that should have caught it and did not."""
        return self.mutant.caught_by - self.broken

    @property
    def needless(self) -> frozenset[str]:
        """Requirements that it does not name and that broke nevertheless."""
        return self.broken - self.mutant.caught_by


def catch(mutant: Mutant[Any], own_only: bool = False, family: Family = FAMILIES[0]) -> Catch:
    """Run the suite on a mutant of `family`; with `own_only`, only the checks of the requirements that it names.

    Raises TurnproofError when the mutant cannot be judged.
    """
    requirements = mutant.caught_by if own_only else None
    with tempfile.TemporaryDirectory() as folder:
        target = find_target(f"{family.prefix}{mutant.name}")
        order = Order(target, family.suite, out=Path(folder), requirements=requirements)
        results, error = run(order, Observer())
    if error is not None:
        raise error
    broken = (row.requirement.id for row in summarise(results).rows if row.verdict in _BROKEN)
    return Catch(mutant, frozenset(broken))
