"""Errors of a run, by whose fault they are.

A run reads its options and target file (`UsageError`: the user's to mend), starts the target and asks it
for one round trip (`TargetNotReady`: the target's to mend), and then measures. What breaks after that
without being a finding about the target is ours (`HarnessError`). A finding is never an error of this
module: checks report findings as `harness.check.Nonconformance`.
"""

from __future__ import annotations

from collections.abc import Callable


class TurnproofError(Exception):
    """An error that ends a run.

    `message` says what happened, `hint` what to do next; `exit_code` is the documented code of the run.
    """

    exit_code = 4

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def conceal(self, redact: Callable[[str], str]) -> None:
        """Let every text of it be as `redact` gives it."""
        self.message, self.hint = redact(self.message), redact(self.hint)
        self.args = (self.message,)


class UsageError(TurnproofError):
    """The user asked for something that cannot be done: an option, a path or a target file is wrong."""

    exit_code = 2


class TargetNotReady(TurnproofError):
    """The target did not come up, or one nonce did not make it all the way round.

    `step` names the doctor's step that failed; `log` is the end of what the target wrote.
    """

    exit_code = 3

    def __init__(self, step: str, message: str, hint: str = "", log: str = "") -> None:
        super().__init__(message, hint)
        self.step = step
        self.log = log

    def conceal(self, redact: Callable[[str], str]) -> None:
        """As its base, and its log too."""
        super().conceal(redact)
        self.log = redact(self.log)

    def to_json(self) -> dict[str, str]:
        """What it was made of, for another process to make it anew."""
        return {"step": self.step, "message": self.message, "hint": self.hint, "log": self.log}


class HarnessError(TurnproofError):
    """turnproof itself failed: the fault is ours, and the run says nothing about the target."""

    def __init__(self, message: str, hint: str = "this is a fault of turnproof: please report it") -> None:
        super().__init__(message, hint)
