"""A recorded run's checks, made again without a target: the same code, fed the stored exchanges."""

from __future__ import annotations

import contextlib
import io
from dataclasses import dataclass

import pytest

from harness.errors import HarnessError, UsageError
from harness.pytest_run import Selection, collect, isolated, session_arguments
from harness.results import CheckResult, Results
from harness.subject import RecordedSubject
from harness.suite_plugin import RECORDS, SuitePlugin


@dataclass(frozen=True)
class Replayed:
    """A check with the verdict on record (None when there is none) and the one its replay came to."""

    check: str
    recorded: CheckResult | None
    again: CheckResult | None

    @property
    def agrees(self) -> bool:
        """Whether both verdicts, and the findings that explain them, are the same."""
        if self.recorded is None or self.again is None:
            return False
        return (self.recorded.verdict, self.recorded.finding) == (self.again.verdict, self.again.finding)


class _Results:
    """Keeps the results of replayed checks."""

    def __init__(self) -> None:
        self.by_check: dict[str, CheckResult] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        records = getattr(report, RECORDS, None)
        if records is not None:
            self.by_check[report.nodeid] = CheckResult.from_json(records[-1])


def replay(results: Results) -> tuple[Replayed, ...]:
    """Every planned check of a finished run with both its verdicts.

    Raises UsageError when the run did not finish, HarnessError when its checks cannot be made with this version.
    """
    if not results.finished:
        raise UsageError("the run did not finish", "verify a run whose results file has a footer with all checks run")
    recorded = {result.check: result for result in results.checks}
    capabilities = {requirement.id: requirement.capability for requirement in results.header.requirements}
    again, said = _Results(), io.StringIO()
    # Only what this version itself collects is run, whatever a results file of unknown origin names.
    known = {planned.check for planned in collect(results.header.suite)}
    checks = [planned.check for planned in results.header.planned if planned.check in known]
    if not checks:
        raise UsageError("the run holds no check that this version has", "use the version that recorded it")
    plugins = [again, Selection(checks), SuitePlugin(RecordedSubject(results), capabilities)]
    with isolated(), contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
        code = pytest.main(session_arguments(checks), plugins=plugins)
    if code not in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED):
        detail = said.getvalue()[-2000:]
        raise HarnessError(f"the checks cannot be made: {detail}", "use the turnproof version that recorded the run")
    return tuple(
        Replayed(planned.check, recorded.get(planned.check), again.by_check.get(planned.check))
        for planned in results.header.planned
    )
