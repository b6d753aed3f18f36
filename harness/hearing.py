"""What the processes of a target write, cut into windows, one per check."""

from __future__ import annotations

import time

from harness.supervised import Supervised

_MOMENT = 0.05
_PATIENCE = 0.5


class Hearing:
    """Hears the processes that are added; a process is heard from its first byte on."""

    def __init__(self) -> None:
        self._from: dict[Supervised, int] = {}

    def add(self, process: Supervised) -> None:
        """Hear one more process."""
        self._from[process] = 0

    def open_window(self) -> None:
        """Begin a window: what was written so far, and the processes that have ended, do not belong to it."""
        self._from = {process: process.output.total for process in self._from if process.poll() is None}

    def text(self) -> str:
        """What was written in this window: of each process the last 64 KiB at most of the lines that began in it."""
        self._settle()
        return "".join(process.output.since(total) for process, total in self._from.items())

    def _settle(self) -> None:
        """Wait until nothing comes for a moment: a server may answer first, and then write why it failed."""
        deadline, before = time.monotonic() + _PATIENCE, -1
        while self._from and (total := self._total()) != before and time.monotonic() < deadline:
            before = total
            time.sleep(_MOMENT)

    def _total(self) -> int:
        return sum(process.output.total for process in self._from)
