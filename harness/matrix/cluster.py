"""Cells as tasks of a Ray cluster that exists; Ray is the extra `ray`.

Each node needs the same version of turnproof, and fetches the binaries into a cache of its own. A task returns all that
its cell left, or nothing: a cell whose worker or node is lost is run again, from the beginning, a few times.
"""

from __future__ import annotations

import importlib
import os
import re
import socket
import sys
from collections.abc import Generator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from harness.errors import HarnessError, UsageError
from harness.interrupts import terminable
from harness.matrix.child import Returned, run_cell
from harness.matrix.executor import Watch
from harness.matrix.plan import Task
from harness.supervised import Supervised

RETRIES = 3
"""How often a cell is run again whose worker was lost."""

_ADDRESS = re.compile(r"(?P<host>[\w.-]+|\[[0-9A-Fa-f:]+\]):(?P<port>\d{1,5})")
_CONNECT_SECONDS = 10.0
_JOIN_SECONDS = 60.0
_JOIN = "import ray, sys; ray.init(address=sys.argv[1], log_to_driver=False); ray.shutdown()"
_GRACE = 60.0
_LOOK = 0.5


class Cluster:
    """Runs cells on the cluster at `address`, HOST:PORT, as many at once as it has room for.

    The address is explicit, since Ray's own guess may be a cluster that is gone. Raises UsageError when Ray is not
    installed, or no cluster is there.
    """

    def __init__(self, address: str) -> None:
        try:
            self._ray: Any = importlib.import_module("ray")
        except ImportError as error:
            raise UsageError("Ray is not installed", "Install turnproof[ray], or leave --executor out.") from error
        _reach(address)
        self._address = address

    def run(self, tasks: Sequence[Task], within: float, watch: Watch) -> Generator[tuple[Task, Returned], None, None]:
        """Part of `harness.matrix.executor.Executor`."""
        ray = self._ray
        _join(self._address)
        ray.init(address=self._address, log_to_driver=False, logging_level="ERROR")
        try:
            with terminable():  # Ray takes SIGTERM for itself
                yield from self._run(tasks, within, watch)
        except (OSError, ray.exceptions.RayError) as error:
            hint = "The cells that came back are kept: run it again with --resume."
            raise HarnessError(f"the Ray cluster at {self._address} was lost: {error}", hint) from error
        finally:
            ray.shutdown()

    def _run(self, tasks: Sequence[Task], within: float, watch: Watch) -> Generator[tuple[Task, Returned], None, None]:
        ray = self._ray
        remote = ray.remote(num_cpus=1, max_retries=RETRIES, scheduling_strategy="SPREAD")(run_cell)
        waiting: dict[Any, Task] = {}
        for task in tasks:
            watch.began(task)
            waiting[remote.remote(task.arguments, task.binary, within)] = task
        try:
            while waiting:
                done, _ = ray.wait(list(waiting), num_returns=1, timeout=_LOOK)
                for reference in done:
                    task = waiting.pop(reference)
                    yield task, self._result(reference)
        finally:
            with suppress(OSError, ray.exceptions.RayError):
                self._end(list(waiting))

    def _end(self, running: list[Any]) -> None:
        """End what still runs, and wait until it has."""
        for reference in running:
            self._ray.cancel(reference)
        if running:
            self._ray.wait(running, num_returns=len(running), timeout=_GRACE)

    def _result(self, reference: Any) -> Returned:
        """What a task returned; a task that was lost for good comes back as an error of ours, with no results."""
        try:
            returned: Returned = self._ray.get(reference)
        except self._ray.exceptions.RayError as error:
            lost = f"no worker brought it to its end: {type(error).__name__}: {str(error).strip()}"
            return Returned(HarnessError.exit_code, b"", lost, 0.0)
        return returned


def _reach(address: str) -> None:
    found = _ADDRESS.fullmatch(address)
    if found is None:
        raise UsageError(f"{address!r} is no address of a Ray cluster", "Write its HOST:PORT, as `ray start` told it.")
    try:
        socket.create_connection((found["host"].strip("[]"), int(found["port"])), _CONNECT_SECONDS).close()
    except (OSError, OverflowError) as error:
        hint = "Start one with `ray start --head`, or name the one that runs."
        raise UsageError(f"no Ray cluster is at {address}: {error}", hint) from error


def _join(address: str) -> None:
    """Join the cluster in a process of its own and leave it: where that goes wrong, Ray waits for very long."""
    argv = [sys.executable, "-P", "-c", _JOIN, address]
    with Supervised.start(argv, env=os.environ, cwd=Path.cwd(), name="Ray") as process:
        status = process.wait(_JOIN_SECONDS)
        said = process.output.text().strip().rpartition("\n")[2]
    if status != 0:
        why = f"it was not joined within {_JOIN_SECONDS:.0f} s" if status is None else said
        hint = f"See `ray status --address {address}`; Python and Ray must be of the cluster's versions."
        raise UsageError(f"the Ray cluster at {address} cannot be joined: {why}", hint)
