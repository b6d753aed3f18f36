"""What a run of the CLI came to, and whether that is an answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from harness.reference.kilo.events import Event, Failed, Reasoning, StepStart, Text, ToolUse

Code = Literal["never_ran", "timed_out", "failed", "output_budget"]


@dataclass(frozen=True)
class Failure:
    """Why a run gave no answer that counts; `message` is for the client."""

    code: Code
    message: str


@dataclass(frozen=True)
class Ran:
    """A run as it was seen: what it printed, and how it ended.

    `exit_status` is None when it had to be ended, and when it could not be started; `unstarted` then says why.
    """

    events: tuple[Event, ...] = ()
    exit_status: int | None = None
    unstarted: str | None = None
    errors: str = ""


def judge(ran: Ran, overflow: str | None, timeout: float) -> Failure | None:
    """Why a run failed; None for one that gave an answer, were it an empty one."""
    if ran.unstarted is not None:
        return Failure("never_ran", f"The Kilo CLI could not be started: {ran.unstarted}.")
    if ran.exit_status is None:
        return Failure("timed_out", f"The Kilo CLI did not end within {timeout:g} seconds, and was ended.")
    if overflow is not None:
        return Failure("output_budget", overflow)
    error = _last_error(ran.events)
    if not any(isinstance(event, StepStart | Text | Reasoning | ToolUse) for event in ran.events):
        said = error or ran.errors or "it printed no event"
        return Failure("never_ran", f"The Kilo CLI ended with status {ran.exit_status} before its agent ran: {said}.")
    if ran.exit_status != 0 or error is not None:
        said = error or ran.errors or "it gave no reason"
        return Failure("failed", f"The Kilo CLI failed with status {ran.exit_status}: {said}.")
    return None


def _last_error(events: Sequence[Event]) -> str | None:
    """The last error, unless the agent went on to say something."""
    for event in reversed(events):
        if isinstance(event, Text):
            return None
        if isinstance(event, Failed):
            return event.message or event.name
    return None
