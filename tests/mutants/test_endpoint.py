from __future__ import annotations

import re

import pytest

from harness.errors import UsageError
from harness.mutants.endpoint import MUTANTS, find, main
from harness.mutants.mutant import Mutant
from harness.reference.endpoint.parts import Parts
from harness.requirements import catalogue

EVERY = pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)


def test_every_requirement_has_a_mutant() -> None:
    every = {requirement.id for requirement in catalogue("agent_endpoint")}
    assert every - {id_ for mutant in MUTANTS for id_ in mutant.caught_by} == set()


def test_names_are_unique() -> None:
    names = [mutant.name for mutant in MUTANTS]
    assert len(names) == len(set(names))


@EVERY
def test_mutant_names_what_must_catch_it(mutant: Mutant[Parts]) -> None:
    assert mutant.caught_by
    assert all(re.fullmatch(r"AE-[A-Z]+-\d+", requirement) for requirement in mutant.caught_by)


@EVERY
def test_mutant_changes_something(mutant: Mutant[Parts]) -> None:
    assert mutant.apply(Parts()) != Parts()


@EVERY
def test_mutant_is_found_by_its_name(mutant: Mutant[Parts]) -> None:
    assert find(mutant.name) is mutant


def test_unknown_mutant_is_a_usage_error() -> None:
    with pytest.raises(UsageError, match="no_such"):
        find("no_such")


@pytest.mark.parametrize("arguments", [[], ["no_such"]])
def test_serving_an_unknown_mutant_exits_with_2(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(arguments) == 2
    assert "no_done" in capsys.readouterr().err
