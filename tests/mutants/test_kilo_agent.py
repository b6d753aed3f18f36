from __future__ import annotations

import pytest

from harness.builtin import find_target
from harness.errors import UsageError
from harness.kilo_agent_target import REFERENCE
from harness.mutants.kilo_agent import MUTANTS, find, main
from harness.mutants.mutant import Mutant
from harness.mutation import family_of
from harness.reference.kilo.parts import Parts
from harness.requirements import catalogue

FAMILY = family_of("kilo_agent")


def test_every_requirement_has_a_mutant() -> None:
    every = {requirement.id for requirement in catalogue(FAMILY.suite)}
    assert every - {id_ for mutant in MUTANTS for id_ in mutant.caught_by} == set()


def test_names_are_unique_and_found() -> None:
    assert len({mutant.name for mutant in MUTANTS}) == len(MUTANTS)
    assert all(find(mutant.name) is mutant for mutant in MUTANTS)
    with pytest.raises(UsageError, match="no_such"):
        find("no_such")


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_a_mutant_changes_something_and_is_the_reference_otherwise(mutant: Mutant[Parts]) -> None:
    assert mutant.apply(Parts()) != Parts()
    reference, target = find_target(REFERENCE), find_target(f"kilo-mutant:{mutant.name}")
    assert reference.start is not None
    assert target.start is not None
    at = target.start.command.index("harness.mutants.kilo_agent")
    assert target.start.command[at + 1] == mutant.name
    rest = (*target.start.command[:at], "harness.reference.kilo", *target.start.command[at + 2 :])
    assert rest == reference.start.command


@pytest.mark.parametrize("arguments", [[], ["no_such"]])
def test_serving_an_unknown_mutant_exits_with_2(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(arguments) == 2
    assert "doubled_events" in capsys.readouterr().err
