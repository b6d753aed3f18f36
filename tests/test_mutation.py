from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from harness.errors import UsageError
from harness.mutants.mutant import Mutant
from harness.mutation import FAMILIES, Catch, Family, catch, catches, chosen, family_of, idle


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


def test_an_answer_that_was_not_kept_is_a_finding_and_breaks_no_check() -> None:
    family, mutant = named("model_server", "gym_answer_not_kept")
    assert catch(mutant, own_only=True, family=family).missed == frozenset()


def test_a_requirement_that_does_not_notice_a_mutant_has_missed_it() -> None:
    family, mutant = named("model_server", "no_done")
    blind = replace(mutant, caught_by=frozenset({"MS-MODELS-1"}))
    assert catch(blind, own_only=True, family=family).missed == {"MS-MODELS-1"}


def test_a_requirement_that_notices_and_is_not_named_is_needless() -> None:
    _, mutant = named("model_server", "no_done")
    assert Catch(mutant, mutant.caught_by | {"MS-MODELS-1"}).needless == {"MS-MODELS-1"}


def test_a_check_that_passes_on_every_mutant_is_idle() -> None:
    _, mutant = named("model_server", "no_done")
    one = Catch(mutant, frozenset(), failed=frozenset({"a"}), passed=frozenset({"b", "c"}))
    other = Catch(mutant, frozenset(), failed=frozenset({"b"}), passed=frozenset({"a", "c"}))
    assert idle([one, other]) == {"c"}


def test_checks_of_a_mutant_are_told_by_how_they_went() -> None:
    family, mutant = named("model_server", "no_done")
    caught = catch(mutant, own_only=True, family=family)
    failed = {check.partition("::")[2] for check in caught.failed}
    assert failed == {f"test_done_is_the_last_that_is_said[{case}]" for case in ("plain", "with usage")}
    assert caught.passed
    assert not caught.failed & caught.passed


def test_mutants_judged_at_once_come_to_what_they_do_alone() -> None:
    two = [named("model_server", "no_done"), named("kilo_cli", FAMILIES[3].mutants[0].name)]
    caught = list(catches(two, own_only=True, jobs=2))
    assert [one.mutant for one in caught] == [mutant for _, mutant in two]
    assert caught == [catch(mutant, own_only=True, family=family) for family, mutant in two]


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
