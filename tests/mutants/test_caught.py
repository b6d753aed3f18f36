"""Every mutant is caught by each requirement that it names.

That it is caught by nothing else is what `turnproof mutants` shows, with every check on every mutant.
"""

from __future__ import annotations

import pytest

from harness.mutants.endpoint import MUTANTS
from harness.mutants.mutant import Mutant
from harness.mutation import catch
from harness.reference.endpoint.parts import Parts
from harness.requirements import catalogue


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_mutant_is_caught_by_all_that_it_names(mutant: Mutant[Parts]) -> None:
    assert catch(mutant, own_only=True).missed == frozenset()


def test_every_must_has_a_mutant() -> None:
    musts = {requirement.id for requirement in catalogue("agent_endpoint") if requirement.level == "MUST"}
    assert musts - {id_ for mutant in MUTANTS for id_ in mutant.caught_by} == set()
