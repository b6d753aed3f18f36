"""Why evidence is refused: each reason with an exit code of its own."""

from __future__ import annotations

from typing import Literal

from harness.errors import TurnproofError
from harness.reporting.visible import one_line

Reason = Literal[
    "unsealed", "cut", "edited", "incomplete", "stale", "wrong commit", "wrongly signed", "not confirmed by replay"
]

EXIT_CODES: dict[Reason, int] = {
    "unsealed": 10,
    "cut": 11,
    "edited": 12,
    "incomplete": 13,
    "stale": 14,
    "wrong commit": 15,
    "wrongly signed": 16,
    "not confirmed by replay": 17,
}


class Refused(TurnproofError):
    """The evidence is not what it should be, for one `reason`."""

    def __init__(self, reason: Reason, message: str, hint: str = "") -> None:
        super().__init__(one_line(message), hint)  # what it tells of may be a stranger's
        self.reason: Reason = reason
        self.exit_code = EXIT_CODES[reason]
