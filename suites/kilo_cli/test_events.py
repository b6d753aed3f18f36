"""The events of a turn on standard output."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from harness.kilo_actor import Kilo, Played
from harness.kilo_expectations import expect_same, expect_same_list, expect_status, expect_turned
from harness.kilo_outcome import outline, shape
from harness.kilo_starts import BROKEN, REFUSED, REJECTED, TOOLS, broken


def expect_as_recorded(played: Played) -> None:
    """The events are those of the record in their order and shapes, with nothing between them."""
    came, recorded = played.outcome, played.recorded
    expect_same(played, "lines that are no events", came["stray lines"], recorded["stray lines"])
    expect_same_list(played, "event", list(map(outline, came["events"])), list(map(outline, recorded["events"])))
    expect_same_list(played, "shape of event", list(map(shape, came["events"])), list(map(shape, recorded["events"])))


def tokens(outcome: Mapping[str, Any]) -> list[Any]:
    """What the last step says of its tokens."""
    return [event["part"]["tokens"] for event in outcome["events"] if event.get("type") == "step_finish"][-1:]


@pytest.mark.requirement("KC-EVENTS-1")
def test_a_turn_with_tools_is_told_in_the_recorded_events(kilo: Kilo) -> None:
    """Text, reasoning, and tools that succeed, fail, and are not there."""
    (played,) = kilo.play(TOOLS)
    expect_turned(played)
    expect_as_recorded(played)
    expect_same(played, "tokens", tokens(played.outcome), tokens(played.recorded))
    expect_status(played)


@pytest.mark.requirement("KC-EVENTS-1")
def test_a_refusal_of_the_model_server_is_told_in_the_recorded_events(kilo: Kilo) -> None:
    """An error event for a 400 of the model server."""
    (played,) = kilo.play(REFUSED)
    expect_same(played, "model calls", [c["answered"] for c in played.outcome["calls"]], answers(played))
    expect_as_recorded(played)
    expect_status(played)


@pytest.mark.requirement("KC-EVENTS-1")
def test_streams_that_are_not_whole_are_told_in_the_recorded_events(kilo: Kilo) -> None:
    """An error in the middle, a chunk that is no JSON, no finish reason; and a tool that nobody permits."""
    for played in kilo.play(*map(broken, BROKEN), REJECTED):
        expect_same(played, "model calls", [c["answered"] for c in played.outcome["calls"]], answers(played))
        expect_as_recorded(played)
        expect_status(played)


def answers(played: Played) -> list[Any]:
    """The recorded statuses of the model calls."""
    return [call["answered"] for call in played.recorded["calls"]]
