"""The stand-in against the recordings of the version that it stands for: a difference is a failure of the stand-in."""

from __future__ import annotations

from typing import Any

import pytest

from harness.opencode import VERSION
from harness.record.compare import UNSETTLED, differences, outline
from harness.record.record import record
from harness.record.recording import read, versions
from harness.record.scenes import scenarios
from harness.stand_ins import StandIn

_QUIET = 0.1
_PACE = 5.0
NOT_COMPARED = UNSETTLED | {"doc"}
"""The stand-in documents its own routes only."""

NAMES = [scenario.name for scenario in scenarios() if scenario.name not in NOT_COMPARED]


@pytest.fixture(scope="module")
def on_stand_in() -> dict[str, Any]:
    """The recordings of the stand-in, made in one go."""
    return dict(record(StandIn(pace=_PACE), [*NAMES, *UNSETTLED], _QUIET))


@pytest.mark.parametrize("name", NAMES)
def test_the_stand_in_does_as_was_recorded(on_stand_in: dict[str, Any], name: str) -> None:
    assert differences(read(VERSION)[name], on_stand_in[name]) == []


@pytest.mark.parametrize("name", sorted(UNSETTLED))
def test_what_chance_decides_comes_out_as_it_was_recorded_once(on_stand_in: dict[str, Any], name: str) -> None:
    assert outline(on_stand_in[name]) in [outline(read(version)[name]) for version in versions()]
