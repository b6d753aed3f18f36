from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from harness.errors import UsageError
from harness.mutants.mutant import Mutant
from harness.mutation import FAMILIES, Catch, Family, catch, catches, chosen, family_of


def named(suite: str, name: str) -> tuple[Family, Mutant[Any]]:
    family = family_of(suite)
    return family, family.find(name)


QUICK = (
    named("agent_endpoint", "no_done"),
    named("opencode_server", "json_404"),
    named("model_server", "no_done"),
    named("kilo_cli", FAMILIES[3].mutants[0].name),
    named("kilo_agent", "doubled_events"),
)


@pytest.mark.parametrize(("family", "mutant"), QUICK, ids=[family.suite for family, _ in QUICK])
def test_a_mutant_of_each_family_is_caught_by_what_it_names(family: Family, mutant: Mutant[Any]) -> None:
    assert catch(mutant, own_only=True, family=family).missed == frozenset()


def test_a_requirement_that_does_not_notice_a_mutant_has_missed_it() -> None:
    family, mutant = named("model_server", "no_done")
    blind = replace(mutant, caught_by=frozenset({"MS-MODELS-1"}))
    assert catch(blind, own_only=True, family=family).missed == {"MS-MODELS-1"}


def test_a_requirement_that_notices_and_is_not_named_is_needless() -> None:
    _, mutant = named("model_server", "no_done")
    assert Catch(mutant, mutant.caught_by | {"MS-MODELS-1"}).needless == {"MS-MODELS-1"}


def test_mutants_judged_at_once_come_to_what_they_do_alone() -> None:
    two = [named("model_server", "no_done"), named("kilo_cli", FAMILIES[3].mutants[0].name)]
    caught = list(catches(two, own_only=True, jobs=2))
    assert [one.mutant for one in caught] == [mutant for _, mutant in two]
    assert all(one.missed == frozenset() for one in caught)


def test_a_name_stands_for_every_mutant_that_has_it() -> None:
    assert {family.suite for family, _ in chosen(["no_done"], None)} >= {"agent_endpoint", "model_server"}


def test_a_suite_narrows_the_mutants() -> None:
    assert {family.suite for family, _ in chosen([], "kilo_cli")} == {"kilo_cli"}


def test_no_name_stands_for_all() -> None:
    assert len(chosen([], None)) == sum(len(family.mutants) for family in FAMILIES)


@pytest.mark.parametrize(("names", "suite"), [(["no_such"], None), (["no_done"], "no_such"), (["no_done"], "kilo_cli")])
def test_what_is_not_there_is_a_usage_error(names: list[str], suite: str | None) -> None:
    with pytest.raises(UsageError):
        chosen(names, suite)
