"""Ctrl-C and SIGTERM: each ends a run as a KeyboardInterrupt, and neither can keep it from writing its record."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Iterator
from types import FrameType, TracebackType
from typing import Any, Self


@contextlib.contextmanager
def terminable() -> Iterator[None]:
    """Make SIGTERM raise KeyboardInterrupt, as Ctrl-C does, so that everything is put in order on the way out."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


class Held:
    """While it is entered, SIGINT and SIGTERM raise KeyboardInterrupt within `raising` alone, and once at most.

    One that comes elsewhere is raised as soon as `raising` is entered. Outside the main thread, where Python
    delivers no signals, nothing is held; a signal that is ignored stays ignored.
    """

    def __init__(self) -> None:
        self._before: dict[int, Any] = {}
        self._raising = self._came = self._raised = False

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGINT, signal.SIGTERM):
                if signal.getsignal(number) is not signal.SIG_IGN:
                    self._before[number] = signal.signal(number, self._note)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    @contextlib.contextmanager
    def raising(self) -> Iterator[None]:
        """Let the first signal interrupt what is done here."""
        self._raising = True
        try:
            self._raise()
            yield
        finally:
            self._raising = False

    def _note(self, _number: int, _frame: FrameType | None) -> None:
        self._came = True
        self._raise()

    def _raise(self) -> None:
        if self._came and self._raising and not self._raised:
            self._raised = True
            raise KeyboardInterrupt
