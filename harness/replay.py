"""A recorded run's checks, made again without a target: the same code, fed the stored exchanges."""

from __future__ import annotations

import contextlib
import io
from dataclasses import dataclass

import pytest

from harness.errors import HarnessError, UsageError
from harness.pytest_run import Selection, collect, isolated, session_arguments
from harness.requirements import catalogue
from harness.results import CheckResult, Results
from harness.subject import RecordedSubject
from harness.suite_plugin import RECORDS, SuitePlugin

_COMPARED = ("finding", "requirements", "signature")


@dataclass(frozen=True)
class Replayed:
    """A check with the result on record (None when there is none) and the one its replay came to.

    `stated` tells whether the record plans it as this version does: under the same title, for the same requirements,
    with their levels and their words.
    """

    check: str
    recorded: CheckResult | None
    again: CheckResult | None
    stated: bool = True

    @property
    def agrees(self) -> bool:
        """Whether both came to the same, for the same reason, and it means the same."""
        return not self.difference

    @property
    def difference(self) -> str:
        """How the record differs from what this version comes to; empty when it does not."""
        was, now = (result.verdict if result else "nothing" for result in (self.recorded, self.again))
        if was != now or self.recorded is None:
            return f"recorded {was}, replayed {now}"
        if not self.stated:
            return "its title, or a requirement of it, is recorded otherwise than this version has it"
        other = [name for name in _COMPARED if getattr(self.recorded, name) != getattr(self.again, name)]
        return f"recorded with another {' and '.join(other)}" if other else ""


class _Results:
    """Keeps the results of replayed checks."""

    def __init__(self) -> None:
        self.by_check: dict[str, CheckResult] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        records = getattr(report, RECORDS, None)
        if records is not None:
            self.by_check[report.nodeid] = CheckResult.from_json(records[-1])


def replay(results: Results) -> tuple[Replayed, ...]:
    """Every check of a finished run, planned or on record, with both its results.

    Raises UsageError when the run did not finish, HarnessError when its checks cannot be made with this version.
    """
    if not results.finished:
        raise UsageError("the run did not finish", "verify a run whose results file has a footer with all checks run")
    recorded: dict[str, list[CheckResult | None]] = {}
    for result in results.checks:
        recorded.setdefault(result.check, []).append(result)
    capabilities = {requirement.id: requirement.capability for requirement in results.header.requirements}
    again, said = _Results(), io.StringIO()
    # Only what this version itself collects is run, whatever a results file of unknown origin names.
    known = {planned.check: planned for planned in collect(results.header.suite)}
    planned = {check.check: check for check in results.header.planned}
    checks = [check for check in planned if check in known]
    if not checks:
        raise UsageError("the run holds no check that this version has", "use the version that recorded it")
    plugins = [again, Selection(checks), SuitePlugin(RecordedSubject(results), capabilities)]
    with isolated(), contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
        code = pytest.main(session_arguments(checks), plugins=plugins)
    if code not in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED):
        detail = said.getvalue()[-2000:]
        raise HarnessError(f"the checks cannot be made: {detail}", "use the turnproof version that recorded the run")
    stated = _stated(results)
    return tuple(
        Replayed(check, found, again.by_check.get(check), planned.get(check) == known.get(check) and check in stated)
        for check in dict.fromkeys((*planned, *recorded))
        for found in recorded.get(check, [None])
    )


def _stated(results: Results) -> set[str]:
    """The planned checks whose requirements the record states as this version does."""
    ours = set(catalogue(results.header.suite))
    same = {requirement.id for requirement in results.header.requirements if requirement in ours}
    return {planned.check for planned in results.header.planned if same.issuperset(planned.requirements)}
