"""The pytest plugin of the process that writes the results file: takes the records that checks send."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from harness.errors import TargetNotReady
from harness.results import CheckResult, Writer
from harness.suite_plugin import NOT_READY, RECORDS


class Recorder:
    """Writes the records of each check as they come; `done` is told each result.

    `broken` holds what went wrong in the harness itself, `not_ready` what kept a target from coming
    up, or from being there until the end.
    """

    def __init__(self, writer: Writer, done: Callable[[CheckResult], None]) -> None:
        self._writer = writer
        self._done = done
        self.count = 0
        self.broken: list[str] = []
        self.not_ready: TargetNotReady | None = None
        self._session: pytest.Session | None = None

    def pytest_sessionstart(self, session: pytest.Session) -> None:
        """Hook."""
        self._session = session

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Hook: called for every phase of every check, also for those made in workers."""
        records = getattr(report, RECORDS, None)
        if records is not None:
            for record in records:
                self._writer.write(record)
            self.count += 1
            self._done(CheckResult.from_json(records[-1]))
        if (lost := getattr(report, NOT_READY, None)) is not None:
            self.not_ready = self.not_ready or TargetNotReady(**lost)
            assert self._session is not None
            self._session.shouldstop = self.not_ready.message
        elif records is None and report.failed:
            self.broken.append(f"{report.nodeid} ({report.when}): {report.longreprtext[-2000:]}")

    def pytest_internalerror(self, excrepr: object) -> None:
        """Hook."""
        self.broken.append(str(excrepr)[-4000:])
