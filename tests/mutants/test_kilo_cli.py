from __future__ import annotations

from pathlib import Path

import pytest

from harness.builtin import find_target
from harness.errors import UsageError
from harness.mutants.kilo_cli import FLAWS, find
from harness.requirements import catalogue
from harness.run import Observer, Order, run
from harness.verdict import summarise

SAMPLE = {
    "last_slash": "test_model_names",
    "falls_back": "test_model_names or 32768",
    "other_field": "test_reasoning or test_events",
    "silent_zero": "test_over_window or test_events",
    "trims": "test_prompts or test_isolation",
}
"""Flaws with the checks, as pytest's `-k`, among which those that must catch them are."""


def test_every_requirement_has_a_flaw_that_it_alone_catches() -> None:
    alone = {id_ for flaw in FLAWS if len(flaw.caught_by) == 1 for id_ in flaw.caught_by}
    assert alone == {row.id for row in catalogue("kilo_cli")}


def test_no_two_flaws_have_the_same_name() -> None:
    assert len({flaw.name for flaw in FLAWS}) == len(FLAWS)


def test_an_unknown_flaw_is_refused() -> None:
    with pytest.raises(UsageError):
        find("nothing")


@pytest.mark.parametrize("name", SAMPLE)
def test_a_flaw_is_caught_by_nothing_else(name: str, tmp_path: Path) -> None:
    results, error = run(Order(find_target(f"kilo-flaw:{name}"), "kilo_cli", SAMPLE[name], out=tmp_path), Observer())
    assert error is None
    assert {row.requirement.id for row in summarise(results).rows if row.verdict != "pass"} == find(name).caught_by
