"""Who runs the cells: this machine, some at once, or a cluster (`harness.matrix.cluster`)."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from typing import Protocol

from harness.errors import UsageError
from harness.matrix.child import Returned, run_cell
from harness.matrix.plan import Task


@dataclass(frozen=True)
class Watch:
    """Is told how the cells go: what is fetched, which begins, the last thing that it said, and which is done."""

    fetching: Callable[[str], None] = lambda _step: None
    began: Callable[[Task], None] = lambda _task: None
    said: Callable[[Task, str], None] = lambda _task, _line: None
    ended: Callable[[Task, Returned], None] = lambda _task, _returned: None


class Executor(Protocol):
    """Runs cells."""

    def run(self, tasks: Sequence[Task], within: float, watch: Watch) -> Generator[tuple[Task, Returned], None, None]:
        """Each cell with what came back of it, as they end; ends what runs when it is closed before its end."""


class Local:
    """Runs `jobs` cells at once, on this machine."""

    def __init__(self, jobs: int = 1) -> None:
        self._jobs = jobs

    def run(self, tasks: Sequence[Task], within: float, watch: Watch) -> Generator[tuple[Task, Returned], None, None]:
        """Part of `Executor`."""
        stop = threading.Event()

        def run(task: Task) -> Returned:
            watch.began(task)
            say = functools.partial(watch.said, task)
            return run_cell(task.arguments, task.binary, within, say=say, stopped=stop.is_set)

        with ThreadPoolExecutor(self._jobs, "cell") as pool:
            futures: dict[Future[Returned], Task] = {pool.submit(run, task): task for task in tasks}
            try:
                for future in as_completed(futures):
                    yield futures[future], future.result()
            finally:
                stop.set()
                pool.shutdown(cancel_futures=True)


def executor_named(name: str, jobs: int | None, address: str | None) -> Executor:
    """The executor of that name: `local` or `ray`; raises UsageError where the others do not fit it."""
    if name == "local":
        if address is not None:
            raise UsageError("--address is for --executor ray", "add --executor ray, or leave --address out")
        return Local(jobs or 1)
    if jobs is not None:
        raise UsageError("--jobs is for --executor local", "a Ray cluster runs as many cells as it has room for")
    if address is None:
        raise UsageError("--executor ray needs --address", "name the cluster: --address HOST:PORT")
    from harness.matrix.cluster import Cluster

    return Cluster(address)
