"""A request that does not fit the model's window."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from harness.check import expect
from harness.kilo_actor import Kilo, Played
from harness.kilo_expectations import expect_same_list, expect_status, shown
from harness.kilo_outcome import outline, turn_calls
from harness.kilo_starts import over_window


def kinds(outcome: Mapping[str, Any]) -> list[str]:
    """The model calls in a few words: whether they are steps of the turn, and how they were answered."""
    return [f"{'turn' if call['tools'] else 'aside'} {call['answered']}" for call in outcome["calls"]]


@pytest.mark.requirement("KC-BUDGET-2")
@pytest.mark.parametrize("policy", ["error", "empty_length"])
def test_a_request_over_the_window_ends_as_recorded(kilo: Kilo, policy: str) -> None:
    """A model server that refuses what does not fit, and one that answers nothing."""
    (played,) = kilo.play(over_window(policy))
    expect_ended(played)


def expect_ended(played: Played) -> None:
    """Events, exit status and model calls are as recorded."""
    expect(bool(turn_calls(played.calls)), f"a model call for {played.scenario.about}", shown(played), "ask the model")
    came, recorded = played.outcome, played.recorded
    expect_same_list(played, "event", list(map(outline, came["events"])), list(map(outline, recorded["events"])))
    expect_same_list(played, "model call", kinds(came), kinds(recorded))
    expect_status(played)
