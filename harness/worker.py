"""xdist workers of a run: each launches a target and stand-ins of its own, and dies with the run."""

from __future__ import annotations

import contextlib
import gc
import pickle
from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass
from typing import Any

import pytest

from harness.errors import TurnproofError
from harness.launch import launched
from harness.parts import Part
from harness.pytest_run import Selection
from harness.results import CheckResult
from harness.scheduling import FileScheduling
from harness.subject import Context, LiveSubject
from harness.suite_plugin import SuitePlugin
from harness.supervised import own_process_dies_with_parent
from harness.target import Target

_KEY = "turnproof"
_NUMBERS_PER_WORKER = 1_000_000

# The import of the official client costs more than many checks.
_TOGETHER = ("test_official_client.py",)


@dataclass(frozen=True)
class WorkerSettings:
    """What a worker needs to know to make checks of its own."""

    target: Target
    part: Part | None
    seed: str
    capabilities: Mapping[str, str | None]
    checks: frozenset[str]
    shuffle: str | None = None
    first_number: int = 1


class WorkerSetup:
    """Runs in the controlling process: hands each worker the settings.

    While the workers start, `examine` judges whether there is anything to check. `failed` is what it raised.
    """

    def __init__(self, settings: WorkerSettings, examine: Callable[[], None]) -> None:
        self._settings = pickle.dumps(settings)
        self._examine = examine
        self.failed: TurnproofError | None = None

    def pytest_configure_node(self, node: Any) -> None:
        """Hook of pytest-xdist: before a worker starts."""
        node.workerinput[_KEY] = self._settings

    def pytest_xdist_make_scheduler(self, config: pytest.Config, log: object) -> FileScheduling:
        """Hook of pytest-xdist."""
        return FileScheduling(config, log, _TOGETHER)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self) -> bool | None:
        """Hook: called when the workers are starting; true keeps the checks from being made."""
        try:
            self._examine()
        except TurnproofError as error:
            self.failed = error
            return True
        return None


class WorkerSubject:
    """Launches the target at the worker's first check. Exchanges are numbered apart from other workers'."""

    def __init__(self, settings: WorkerSettings, worker: int) -> None:
        self._settings = settings
        self._first = settings.first_number + (worker + 1) * _NUMBERS_PER_WORKER
        self._ends = contextlib.ExitStack()
        self._live: LiveSubject | None = None

    def begin(self, check: str) -> Context:
        """Part of `Subject`; raises TargetNotReady."""
        if self._live is None:
            launch = self._ends.enter_context(
                launched(self._settings.target, self._settings.part, first_number=self._first)
            )
            self._live = LiveSubject(launch, self._settings.seed)
        return self._live.begin(check)

    def end(self, context: Context, result: CheckResult) -> list[dict[str, Any]]:
        """Part of `Subject`."""
        assert self._live is not None
        return self._live.end(context, result)

    def stays_up(self) -> None:
        """Part of `Subject`."""
        assert self._live is not None
        self._live.stays_up()

    def close(self) -> None:
        """End what was launched."""
        self._ends.close()


class Worker:
    """Runs in the worker's process."""

    def __init__(self, subject: WorkerSubject) -> None:
        self._subject = subject

    def pytest_collection_finish(self) -> None:
        """Hook: what is there by now lasts as long as the process; looking through it for garbage costs a tenth."""
        gc.freeze()

    @pytest.hookimpl(wrapper=True)
    def pytest_sessionfinish(self) -> Generator[None]:
        """Hook: nothing that the worker launched outlives its session."""
        self._subject.close()
        yield


def pytest_configure(config: pytest.Config) -> None:
    """Hook: makes the suites' marker known, and this process ready when it is a worker of a run."""
    config.addinivalue_line("markers", "requirement(*ids): the requirements of the contract that a check claims")
    config.addinivalue_line("markers", "waits: a check that waits for a deadline or the like to pass")
    config.option.tbstyle = "native"  # nobody reads pytest's own reports, and its other styles cost more than a check
    workerinput = getattr(config, "workerinput", None)
    if workerinput is None or _KEY not in workerinput:
        return
    own_process_dies_with_parent()
    settings: WorkerSettings = pickle.loads(workerinput[_KEY])
    subject = WorkerSubject(settings, int(workerinput["workerid"].removeprefix("gw")))
    config.pluginmanager.register(Selection(settings.checks, settings.shuffle))
    config.pluginmanager.register(Worker(subject))
    config.pluginmanager.register(SuitePlugin(subject, settings.capabilities))
