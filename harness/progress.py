"""What a person sees while a run goes on: a live line on a terminal, plain lines elsewhere."""

from __future__ import annotations

from types import TracebackType

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
from rich.progress import Progress as Bar

from harness.results import CheckResult, Header
from harness.run import Observer
from harness.verdict import status_of

_COLOURS = {"pass": "green", "waived": "cyan", "fail": "red", "inconclusive": "red", "error": "red"}


class Progress:
    """Shows a run's steps and results on `console`; entered before the run, left after it.

    `console` holds on to its file: what looks for `sys.stderr` at each line finds pytest's while checks are made.
    """

    def __init__(self, console: Console) -> None:
        self._console = console
        columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn()
        self._bar = Bar(*columns, console=console, transient=True, disable=not console.is_terminal)
        self._task = self._bar.add_task("starting", total=None)
        self._count = self._planned = 0
        self._header: Header | None = None
        self.observer = Observer(self._plan, self._step, self._done, self._begun)

    def __enter__(self) -> Progress:
        self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._bar.stop()

    def _plan(self, count: int) -> None:
        self._planned = count
        self._bar.update(self._task, total=count)

    def _begun(self, header: Header) -> None:
        self._header = header

    def _step(self, step: str, detail: str) -> None:
        self._bar.update(self._task, description=escape(step))
        self._console.print(f"[dim]{escape(step)}: {escape(detail)}[/]", soft_wrap=True)

    def _done(self, result: CheckResult) -> None:
        self._count += 1
        name = result.check.rpartition("::")[2]
        self._bar.update(self._task, completed=self._count, description=escape(name[:60]))
        status = status_of(result, self._header)
        if status != "pass" or not self._console.is_terminal:
            colour = _COLOURS.get(status, "yellow")
            self._console.print(
                f"[dim]{self._count}/{self._planned}[/] [{colour}]{status}[/] {escape(name)}", soft_wrap=True
            )
