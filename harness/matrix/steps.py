"""What changed from each version to the next one that was judged."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from harness.claimed_version import held_to, is_known
from harness.diff import Diff, compare
from harness.matrix.outcome import Outcome
from harness.verdict import Summary


@dataclass(frozen=True)
class Step:
    """From one version to the next that was judged.

    `verdicts` are the verdicts that changed, each version held to what it does itself. `behaviour` is how the newer one
    comes out when it is held to what the older one does: what regresses there is what became different. It is None when
    it is not known what the older one does.
    """

    old: Outcome
    new: Outcome
    verdicts: Diff
    behaviour: Diff | None


def steps(outcomes: Sequence[Outcome]) -> tuple[Step, ...]:
    """The steps between the versions of one comparison, the oldest first; those that could not be judged are passed."""
    return tuple(_steps([(outcome, outcome.summary) for outcome in outcomes if outcome.summary]))


def _steps(judged: list[tuple[Outcome, Summary]]) -> Iterator[Step]:
    for (old, before), (new, after) in pairwise(judged):
        version = old.task.version
        known = is_known(old.task.cell.suite, version)
        behaviour = compare(after, held_to(after.results, version)) if known else None
        yield Step(old, new, compare(before, after), behaviour)
