"""Every mutant is caught by each requirement that it names.

That it is caught by nothing else is what `turnproof mutants` shows, with every check on every mutant.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from harness.mutants.endpoint import BASIC, MUTANTS
from harness.mutants.mutant import Mutant
from harness.mutation import catch
from harness.reference.endpoint.parts import Parts
from harness.requirements import catalogue


def _one_a_group() -> Iterator[str]:
    """The first mutant of each group of requirements."""
    seen: set[str] = set()
    for mutant in MUTANTS:
        groups = {id_.split("-")[1] for id_ in mutant.caught_by}
        if groups - seen:
            yield mutant.name
        seen |= groups


SAMPLE = {*_one_a_group(), *{id_: mutant.name for mutant in BASIC for id_ in mutant.caught_by}.values()}
"""Those that are judged with every run of the tests; `make exhaustive` judges them all."""

EACH = [
    pytest.param(mutant, id=mutant.name, marks=() if mutant.name in SAMPLE else pytest.mark.exhaustive)
    for mutant in MUTANTS
]


@pytest.mark.parametrize("mutant", EACH)
def test_mutant_is_caught_by_all_that_it_names(mutant: Mutant[Parts]) -> None:
    assert catch(mutant, own_only=True).missed == frozenset()


def test_every_must_has_a_mutant() -> None:
    musts = {requirement.id for requirement in catalogue("agent_endpoint") if requirement.level == "MUST"}
    assert musts - {id_ for mutant in MUTANTS for id_ in mutant.caught_by} == set()
