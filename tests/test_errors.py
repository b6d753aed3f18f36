from __future__ import annotations

import pytest

from harness.errors import HarnessError, TargetNotReady, TurnproofError, UsageError


@pytest.mark.parametrize(("kind", "code"), [(UsageError, 2), (TargetNotReady, 3), (HarnessError, 4)])
def test_each_error_of_a_run_has_its_exit_code(kind: type[TurnproofError], code: int) -> None:
    assert issubclass(kind, TurnproofError)
    assert kind.exit_code == code


def test_error_carries_message_and_hint() -> None:
    error = UsageError("what happened", "what to do")
    assert (str(error), error.message, error.hint) == ("what happened", "what happened", "what to do")


def test_target_that_is_not_ready_names_the_step_and_shows_its_log() -> None:
    error = TargetNotReady("it starts", "message", "hint", "log")
    assert (error.step, str(error), error.hint, error.log) == ("it starts", "message", "hint", "log")
