"""Are the checks worth anything? Every mutant must be caught, by exactly the requirements that it names."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path

from harness.builtin import find_target
from harness.mutants.mutant import Mutant
from harness.reference.endpoint.parts import Parts
from harness.run import Observer, Order, run
from harness.verdict import summarise

_BROKEN = ("fail", "inconclusive", "error", "not-run")


@dataclass(frozen=True)
class Catch:
    """What a run on a mutant came to: the requirements whose checks did not hold, against those it names."""

    mutant: Mutant[Parts]
    broken: frozenset[str]

    @property
    def missed(self) -> frozenset[str]:
        """Requirements that should have caught it and did not."""
        return self.mutant.caught_by - self.broken

    @property
    def needless(self) -> frozenset[str]:
        """Requirements that it does not name and that broke nevertheless."""
        return self.broken - self.mutant.caught_by


def catch(mutant: Mutant[Parts], own_only: bool = False) -> Catch:
    """Run the suite on a mutant; with `own_only`, only the checks of the requirements that it names.

    Raises TurnproofError when the mutant cannot be judged.
    """
    requirements = mutant.caught_by if own_only else None
    with tempfile.TemporaryDirectory() as folder:
        order = Order(find_target(f"mutant:{mutant.name}"), out=Path(folder), requirements=requirements)
        results, error = run(order, Observer())
    if error is not None:
        raise error
    broken = (row.requirement.id for row in summarise(results).rows if row.verdict in _BROKEN)
    return Catch(mutant, frozenset(broken))
