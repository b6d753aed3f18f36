"""How a model's name is understood: provider and model, and what happens when there is no such model."""

from __future__ import annotations

import pytest

from harness.check import expect
from harness.kilo_actor import Kilo, Played
from harness.kilo_expectations import MEND, expect_status, expect_turned, shown
from harness.kilo_starts import MISSING, PLAIN, missing, slashed

SLASHED = ("Qwen/Qwen2.5-7B-Instruct", "a/b/c")
NOT_FOUND = "Model not found: "


def messages(played: Played) -> list[str]:
    """What the error events say."""
    errors = [event.get("error") for event in played.outcome["events"] if event.get("type") == "error"]
    return [str(error["data"].get("message")) if isinstance(error, dict) else str(error) for error in errors]


@pytest.mark.requirement("KC-SPLIT-1")
def test_what_follows_the_first_slash_is_the_models_name(kilo: Kilo) -> None:
    """Names with one and two slashes, as the model server sees them."""
    for name, played in zip(SLASHED, kilo.play(*map(slashed, SLASHED)), strict=True):
        asked = {(call.request.json() or {}).get("model") for call in played.calls}
        mend = "split the name at the first slash only"
        expect(asked == {name}, f"calls for the model {name}", f"{sorted(map(str, asked))}; {shown(played)}", mend)
        expect_turned(played)


@pytest.mark.requirement("KC-SPLIT-2")
def test_a_model_that_is_not_there_is_an_error_before_any_call(kilo: Kilo) -> None:
    """Three names of no model, beside a turn that goes well."""
    plain, *lost = kilo.play(PLAIN, *map(missing, MISSING))
    expect_turned(plain)
    for played in lost:
        why = played.scenario.about
        expect(
            not played.calls, f"no model call for {why}", shown(played), "look the model up first", *played.calls[:1]
        )
        said = any(message.startswith(NOT_FOUND) for message in messages(played))
        expect(said, f"an error event {NOT_FOUND!r} for {why}", shown(played), MEND)
        expect_status(played)
