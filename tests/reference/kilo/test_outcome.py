from __future__ import annotations

import pytest

from harness.reference.kilo.events import Event, Failed, StepFinish, StepStart, Text, Tokens
from harness.reference.kilo.outcome import Ran, judge

START, TEXT = StepStart("m"), Text("p", "m", "x")
FINISH = StepFinish("q", "m", "stop", Tokens(1, 0, 0))


def code(ran: Ran, overflow: str | None = None) -> str | None:
    failure = judge(ran, overflow, 5.0)
    return failure.code if failure else None


@pytest.mark.parametrize(
    ("ran", "expected"),
    [
        (Ran(unstarted="no such file"), "never_ran"),
        (Ran((START, TEXT), None), "timed_out"),
        (Ran((), 0), "never_ran"),
        (Ran((), 3, errors="boom"), "never_ran"),
        (Ran((Failed("E", "Model not found"),), 0), "never_ran"),
        (Ran((START, FINISH), 0), None),
        (Ran((START, TEXT, FINISH), 0), None),
        (Ran((START, TEXT, FINISH), 3), "failed"),
        (Ran((START, Failed("E", "no")), 0), "failed"),
        (Ran((START, Failed("E", "no"), START, TEXT), 0), None),
        (Ran((START, TEXT, Failed("E", "no")), 0), "failed"),
    ],
)
def test_a_run_is_judged_by_all_that_was_seen_of_it(ran: Ran, expected: str | None) -> None:
    assert code(ran) == expected


def test_an_overflow_is_told_as_one() -> None:
    assert code(Ran((START, FINISH), 0), "too large") == "output_budget"


@pytest.mark.parametrize(
    ("events", "status", "told"),
    [
        ((Failed("E", "Model not found"),), 1, "Model not found"),
        ((), 7, "status 7"),
        ((START, Failed("Named", "")), 1, "Named"),
    ],
)
def test_the_message_says_what_went_wrong(events: tuple[Event, ...], status: int, told: str) -> None:
    failure = judge(Ran(events, status), None, 5.0)
    assert failure is not None
    assert told in failure.message
