"""What a person sees while the cells of a matrix are run: a line for each on a terminal, plain lines elsewhere."""

from __future__ import annotations

import threading
import time
from types import TracebackType

from rich.console import Console
from rich.markup import escape
from rich.progress import Progress as Bar
from rich.progress import SpinnerColumn, TaskID, TextColumn, TimeElapsedColumn

from harness.matrix.child import Returned
from harness.matrix.executor import Watch
from harness.matrix.plan import Task

_PLAIN_SECONDS = 15.0
"""How long a plain line holds: not each thing that a cell says gets one."""

_WIDTH = 70


class MatrixProgress:
    """Shows how the cells go on `console`; entered before they run, left after. Any thread may tell its `watch`."""

    def __init__(self, console: Console) -> None:
        self._console = console
        columns = SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn()
        self._bar = Bar(*columns, console=console, transient=True, disable=not console.is_terminal)
        self._lock = threading.Lock()
        self._running: dict[Task, TaskID] = {}
        self._last = 0.0
        self.watch = Watch(self._fetching, self._began, self._said, self._ended)

    def __enter__(self) -> MatrixProgress:
        self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._bar.stop()

    def _fetching(self, step: str) -> None:
        self._print(step)

    def _began(self, task: Task) -> None:
        with self._lock:
            self._running[task] = self._bar.add_task(escape(str(task)), total=None)
        self._print(f"{task}: begins")

    def _said(self, task: Task, line: str) -> None:
        with self._lock:
            self._bar.update(self._running[task], description=escape(f"{task}: {line[:_WIDTH]}"))
            due = not self._console.is_terminal and time.monotonic() - self._last > _PLAIN_SECONDS
        if due:
            self._print(f"{task}: {line}")

    def _ended(self, task: Task, returned: Returned) -> None:
        with self._lock:
            if task in self._running:
                self._bar.remove_task(self._running.pop(task))
        self._print(f"{task}: exit code {returned.exit_code} after {returned.seconds:.0f} s")

    def _print(self, text: str) -> None:
        self._last = time.monotonic()
        self._console.print(f"[dim]{escape(text)}[/]", soft_wrap=True)
