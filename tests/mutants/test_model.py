from __future__ import annotations

from pathlib import Path

import pytest

from harness.builtin import find_target
from harness.errors import UsageError
from harness.fakes.model.faces import face_named
from harness.mutants.model import FLAWS, Flaw, find
from harness.requirements import catalogue
from harness.run import Observer, Order, run
from harness.verdict import summarise

SAMPLE = ("spaces_joined", "gym_refuses", "any_key")
LENIENT = ("pass", "not-applicable", "not-measured")


def test_every_requirement_has_a_flaw() -> None:
    assert {id_ for flaw in FLAWS for id_ in flaw.caught_by} == {row.id for row in catalogue("model_server")}


def test_no_two_flaws_have_the_same_name() -> None:
    assert len({flaw.name for flaw in FLAWS}) == len(FLAWS)


@pytest.mark.parametrize("flaw", FLAWS, ids=lambda flaw: flaw.name)
def test_a_flaw_changes_its_face(flaw: Flaw) -> None:
    assert flaw.apply(face_named(flaw.face)) != face_named(flaw.face)


def test_an_unknown_flaw_is_refused() -> None:
    with pytest.raises(UsageError, match="no mutant is called 'nothing'"):
        find("nothing")


@pytest.mark.parametrize("name", SAMPLE)
def test_a_flaw_is_caught_by_what_it_names_and_by_nothing_else(name: str, tmp_path: Path) -> None:
    results, error = run(Order(find_target(f"model-flaw:{name}"), "model_server", out=tmp_path), Observer())
    assert error is None
    broken = {row.requirement.id for row in summarise(results).rows if row.verdict not in LENIENT}
    assert broken == find(name).caught_by
