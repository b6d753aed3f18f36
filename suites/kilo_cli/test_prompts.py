"""How a prompt on the command line reaches the model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from harness.kilo_actor import Kilo, Played
from harness.kilo_expectations import expect_same, expect_status, expect_turned
from harness.kilo_starts import PLAIN, PROMPTS, prompted


def prompts(outcome: Mapping[str, Any]) -> list[object]:
    """The prompt in each step of the turn."""
    return [call["prompt"] for call in outcome["calls"] if call["tools"]]


@pytest.mark.requirement("KC-EVENTS-2")
def test_a_prompt_reaches_the_model_as_recorded(kilo: Kilo) -> None:
    """Prompts that begin with a dash, hold line breaks, quotes, any Unicode."""
    for played in kilo.play(*(prompted(case) for case in PROMPTS if case != "empty")):
        expect_turned(played)
        expect_same(played, "the prompt", prompts(played.outcome), prompts(played.recorded))


@pytest.mark.requirement("KC-EVENTS-2")
def test_an_empty_prompt_is_refused(kilo: Kilo) -> None:
    """No turn for an empty prompt."""
    plain, empty = kilo.play(PLAIN, prompted("empty"))
    expect_turned(plain)
    expect_refused(empty)


def expect_refused(played: Played) -> None:
    """No event came, and the complaint and the exit status are as recorded."""
    expect_same(played, "events", played.outcome["events"], played.recorded["events"])
    expect_same(played, "complaints", played.outcome["complaints"], played.recorded["complaints"])
    expect_status(played)
