from __future__ import annotations

import pytest

from harness.fakes.kilo.rules import NEWEST
from harness.kilo_recorded import file_name, held_against, newest, outcome_of, recorded, versions
from harness.kilo_starts import PLAIN, scenarios


def test_the_stand_in_stands_for_the_newest_recorded_version() -> None:
    assert newest() == NEWEST


@pytest.mark.parametrize("version", versions())
def test_every_start_is_recorded_of_every_version(version: str) -> None:
    assert recorded(version).keys() == {file_name(scenario.name) for scenario in scenarios()}


def test_versions_are_in_the_order_of_their_numbers() -> None:
    assert versions()[0] == "7.0.33"


@pytest.mark.parametrize("version", ["7.99.0", ""])
def test_an_unknown_version_is_held_against_the_newest(version: str) -> None:
    assert held_against(version) == NEWEST
    assert outcome_of(version, PLAIN.name) == outcome_of(NEWEST, PLAIN.name) != {}


def test_what_is_not_recorded_has_no_outcome() -> None:
    assert outcome_of(NEWEST, "nothing like it") == {}
