"""The pytest plugin of a conformance run: gives checks their actors, and turns how they end into verdicts.

It runs where the checks run: in the run's own process, or in each xdist worker. Records travel to the process that
writes the results file on the test report, as JSON values.
"""

from __future__ import annotations

import traceback
from collections.abc import Generator, Mapping
from dataclasses import replace

import pytest

from harness.check import Inconclusive, Nonconformance, NotApplicable, NotMeasured
from harness.errors import TargetNotReady
from harness.results import CheckResult
from harness.subject import Context, Subject
from harness.telling import concealed

CONTEXT = pytest.StashKey[Context]()
RECORDS = "turnproof_records"
NOT_READY = "turnproof_not_ready"


def requirements_of(item: pytest.Item) -> tuple[str, ...]:
    """The ids of the requirements that a check claims, by its marker."""
    return tuple(dict.fromkeys(str(id_) for mark in item.iter_markers("requirement") for id_ in mark.args))


class SuitePlugin:
    """Makes checks against a subject. `capabilities` are those that each requirement needs, by its id."""

    def __init__(self, subject: Subject, capabilities: Mapping[str, str | None]) -> None:
        self._subject = subject
        self._capabilities = capabilities

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        """Hook: the check's context is made before its fixtures are."""
        context = self._subject.begin(item.nodeid)
        item.stash[CONTEXT] = context
        for id_ in requirements_of(item):
            capability = self._capabilities[id_]
            if capability is not None and capability not in context.facts.capabilities:
                raise NotApplicable(f"{id_} is for targets with the capability {capability}")

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Hook: the verdict is taken once, when the check has ended or could not begin."""
        report = yield
        error = call.excinfo.value if call.excinfo else None
        try:
            if isinstance(error, TargetNotReady):
                raise error
            if CONTEXT in item.stash and _has_ended(call):
                result = judge(item, error, call.duration)
                setattr(report, RECORDS, self._subject.end(item.stash[CONTEXT], result))
                self._subject.stays_up()
        except TargetNotReady as lost:
            setattr(report, NOT_READY, lost.to_json() | {"message": f"{lost.message} (in {item.name})"})
        return report


def _has_ended(call: pytest.CallInfo[None]) -> bool:
    """Whether this phase of a test is the one that says how the check ended; an interrupted one has not ended."""
    if call.excinfo is not None and isinstance(call.excinfo.value, KeyboardInterrupt):
        return False
    return call.when == "call" or (call.when == "setup" and call.excinfo is not None)


def judge(item: pytest.Item, error: BaseException | None, duration: float) -> CheckResult:
    """The verdict on a check that ended with `error`, or by returning."""
    base = CheckResult(item.nodeid, requirements_of(item), "pass", duration)
    match error:
        case None:
            return base
        case Nonconformance():
            return replace(base, verdict="fail", finding=error.finding)
        case Inconclusive():
            return replace(base, verdict="inconclusive", reason=str(error))
        case NotMeasured():
            return replace(base, verdict="not-measured", reason=str(error))
        case NotApplicable():
            return replace(base, verdict="not-applicable", reason=str(error))
    told = concealed("".join(traceback.format_exception(error, limit=-6)))
    return replace(base, verdict="error", reason=told[-4000:])
