"""What becomes of a model's reasoning: events, and what goes back to the model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from harness.kilo_actor import Kilo, Played
from harness.kilo_expectations import expect_same, expect_same_list, expect_turned, shown
from harness.kilo_starts import FIELDS, reasoning

DECLARED = (None, *FIELDS)


def went_ahead(played: Played) -> bool:
    """Whether the recorded version took the configuration; where it did, so must this one."""
    if not played.recorded["calls"]:
        expect_same(played, "model calls", len(played.calls), 0)
        return False
    expect_turned(played)
    return True


@pytest.mark.requirement("KC-REASON-1")
@pytest.mark.parametrize("declared", DECLARED)
def test_reasoning_becomes_events(kilo: Kilo, declared: str | None) -> None:
    """Reasoning in either field, with and without --thinking."""
    for played in kilo.play(reasoning(declared, thinking=True), reasoning(declared, thinking=False)):
        if went_ahead(played):
            told, recorded = thoughts(played.outcome), thoughts(played.recorded)
            expect_same(played, f"reasoning events ({shown(played)})", told, recorded)


@pytest.mark.requirement("KC-REASON-2")
def test_reasoning_goes_back_to_the_model(kilo: Kilo) -> None:
    """What the next request holds of the reasoning before."""
    for played in kilo.play(*(reasoning(declared, thinking=True) for declared in DECLARED)):
        if went_ahead(played):
            expect_same_list(played, "request", returned(played.outcome), returned(played.recorded))


def thoughts(outcome: Mapping[str, Any]) -> list[object]:
    """The texts of the reasoning events."""
    return [event["part"]["text"] for event in outcome["events"] if event.get("type") == "reasoning"]


def returned(outcome: Mapping[str, Any]) -> list[object]:
    """What the assistant's messages hold besides their words, for each step of the turn."""
    return [call["sent back"] for call in outcome["calls"] if call["tools"]]
