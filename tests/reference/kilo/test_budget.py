from __future__ import annotations

import pytest

from harness.reference.kilo.budget import doubt, overflow
from harness.reference.kilo.config import Config
from harness.reference.kilo.events import Event, Failed, StepFinish, Text, Tokens
from harness.reference.kilo.settings import build_settings

URL = "http://h/v1"


def asked(config: Config, prompt: str = "x") -> str | None:
    return doubt(config, build_settings(config, config.model_server), prompt)


def test_the_defaults_are_not_doubted() -> None:
    assert asked(Config("m", URL)) is None


@pytest.mark.parametrize("output", [32000, 0, 100_000, 24_000])
def test_a_budget_that_leaves_no_room_for_the_prompt_is_doubted(output: int) -> None:
    told = asked(Config("m", URL, max_output_tokens=output))
    assert told is not None
    assert "32768" in told


def test_a_long_prompt_is_doubted() -> None:
    assert asked(Config("m", URL), "x" * 80_000) is not None


def test_limits_of_an_own_provider_count_and_no_limits_tell_nothing() -> None:
    own = {"provider": {"house": {"models": {"a": {"limit": {"context": 9000, "output": 100}}}}}}
    assert asked(Config("house/a", kilo_config=own)) is not None
    assert asked(Config("house/a")) is None


@pytest.mark.parametrize(
    ("event", "found"),
    [
        (StepFinish("p", "m", "length", Tokens(30000, 0, 0)), True),
        (StepFinish("p", "m", "stop", Tokens(1, 0, 0)), False),
        (Failed("ContextOverflowError", ""), True),
        (Failed("APIError", "This model's maximum context length is 32768 tokens."), True),
        (Failed("APIError", "no"), False),
    ],
)
def test_the_end_of_the_window_is_seen_in_the_events(event: Event, found: bool) -> None:
    told = overflow(Config("m", URL), None, [event])
    assert (told is not None) == found


def test_a_step_that_was_cut_after_some_words_is_no_overflow() -> None:
    events: list[Event] = [Text("q", "m", "words"), StepFinish("p", "m", "length", Tokens(30000, 500, 0))]
    assert overflow(Config("m", URL), None, events) is None


def test_an_overflow_that_was_mended_is_none() -> None:
    events: list[Event] = [Failed("ContextOverflowError", ""), Text("p", "m", "an answer")]
    assert overflow(Config("m", URL), None, events) is None
    assert overflow(Config("m", URL), None, [*events, Failed("ContextOverflowError", "")]) is not None
