from __future__ import annotations

from pathlib import Path

import pytest

from harness.builtin import find_target
from harness.errors import UsageError
from harness.mutants.opencode import FLAWS, find
from harness.requirements import catalogue
from harness.run import Observer, Order, run
from harness.verdict import summarise

SAMPLE = {
    "json_404": "surface",
    "vague_refusal": "test_prompt",
    "half_text": "deltas_are_the_text or events_of_a_turn",
    "no_is_error": "permission",
}
"""Flaws with the checks, as pytest's `-k`, among which those that must catch them are."""


def test_every_requirement_has_a_flaw() -> None:
    assert {id_ for flaw in FLAWS for id_ in flaw.caught_by} == {row.id for row in catalogue("opencode_server")}


def test_no_two_flaws_have_the_same_name() -> None:
    assert len({flaw.name for flaw in FLAWS}) == len(FLAWS)


def test_an_unknown_flaw_is_refused() -> None:
    with pytest.raises(UsageError):
        find("nothing")


@pytest.mark.parametrize("name", SAMPLE)
def test_a_flaw_is_caught_by_what_it_names_and_by_nothing_else(name: str, tmp_path: Path) -> None:
    target = find_target(f"opencode-flaw:{name}")
    order = Order(target, "opencode_server", SAMPLE[name], out=tmp_path)
    results, error = run(order, Observer())
    assert error is None
    assert {row.requirement.id for row in summarise(results).rows if row.verdict != "pass"} == find(name).caught_by
