from __future__ import annotations

import pytest

from harness.builtin import find_judged, find_target
from harness.errors import UsageError
from harness.fakes.kilo.rules import NEWEST
from harness.mutants.endpoint import MUTANTS
from harness.stand_ins import KiloSource, KiloStandIn


def test_reference_is_a_target_with_a_key_in_every_state() -> None:
    assert {key.state for key in find_target("reference").keys} == {"valid", "expired", "revoked"}


@pytest.mark.parametrize(("name", "of"), [(mutant.name, mutant.of) for mutant in MUTANTS])
def test_mutant_is_the_reference_started_with_another_module(name: str, of: str) -> None:
    reference, mutant = find_target(of), find_target(f"mutant:{name}")
    assert mutant.start is not None
    assert reference.start is not None
    at = mutant.start.command.index("harness.mutants.endpoint")
    assert mutant.start.command[at + 1] == name
    assert (mutant.start.command[:at], mutant.start.command[at + 2 :]) == (
        reference.start.command[:at],
        reference.start.command[at + 1 :],
    )
    assert (mutant.keys, mutant.agents, mutant.name) == (reference.keys, reference.agents, f"mutant {name}")


def test_unknown_mutant_is_a_usage_error_that_lists_them() -> None:
    with pytest.raises(UsageError, match="no mutant is called 'none'") as caught:
        find_target("mutant:none")
    assert all(mutant.name in caught.value.hint for mutant in MUTANTS)


@pytest.mark.parametrize(
    ("text", "kilo"),
    [
        ("kilo-stand-in", KiloStandIn(NEWEST)),
        ("kilo-stand-in:7.0.33", KiloStandIn("7.0.33")),
        ("kilo-flaw:doubled", KiloStandIn(NEWEST, "doubled")),
        ("kilo@7.7.9", "7.7.9"),
        ("kilo:/opt/kilo", ("/opt/kilo",)),
    ],
)
def test_kilo_clis_have_names(text: str, kilo: KiloSource) -> None:
    target = find_target(text)
    assert (target.kind, target.kilo) == ("kilo-cli", kilo)


@pytest.mark.parametrize("text", ["kilo-stand-in:1.0.0", "kilo-flaw:nothing", "kilo:"])
def test_an_unknown_kilo_cli_is_a_usage_error(text: str) -> None:
    with pytest.raises(UsageError):
        find_target(text)


def test_anything_else_is_a_file_or_a_url() -> None:
    assert find_target("http://127.0.0.1:9/v1").url == "http://127.0.0.1:9"
    with pytest.raises(UsageError, match="no such file"):
        find_target("nothing.toml")


@pytest.mark.parametrize(
    ("target", "suite", "judged"),
    [
        (None, None, ("reference endpoint", "agent_endpoint")),
        (None, "kilo_cli", ("kilo 7.7.9 stand-in", "kilo_cli")),
        ("kilo-stand-in", None, ("kilo 7.7.9 stand-in", "kilo_cli")),
        ("kilo-stand-in", "agent_endpoint", ("kilo 7.7.9 stand-in", "agent_endpoint")),
    ],
)
def test_suite_is_that_of_the_target_and_the_target_that_of_the_suite(
    target: str | None, suite: str | None, judged: tuple[str, str]
) -> None:
    found, chosen = find_judged(target, suite)
    assert (found.name, chosen) == judged
