from __future__ import annotations

import io
import json
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import pytest

from harness.errors import TargetNotReady
from harness.recorder import Recorder
from harness.redaction import Redactor
from harness.results import CheckResult, Writer
from harness.suite_plugin import NOT_READY, RECORDS

RESULT = CheckResult("c", ("AE-AUTH-1",), "pass", 0.1)


class Recording:
    """A recorder with what it wrote and told."""

    def __init__(self) -> None:
        self.stream = io.StringIO()
        self.told: list[CheckResult] = []
        self.recorder = Recorder(Writer(self.stream, Redactor()), self.told.append)

    @property
    def written(self) -> list[Any]:
        return [json.loads(line) for line in self.stream.getvalue().splitlines()]


@pytest.fixture
def recording() -> Recording:
    return Recording()


def report(attributes: Mapping[str, Any] = MappingProxyType({}), when: str = "call", outcome: str = "passed") -> Any:
    made = pytest.TestReport("c", ("c", None, "c"), {}, outcome, "long words" if outcome == "failed" else None, when)  # type: ignore[arg-type]
    vars(made).update(attributes)
    return made


def test_records_are_written_in_their_order(recording: Recording) -> None:
    act = {"record": "act"}
    recording.recorder.pytest_runtest_logreport(report({RECORDS: [act, RESULT.to_json()]}))
    assert [record["record"] for record in recording.written] == ["act", "check"]


def test_each_result_is_told_and_counted(recording: Recording) -> None:
    recording.recorder.pytest_runtest_logreport(report({RECORDS: [RESULT.to_json()]}))
    assert (recording.told, recording.recorder.count) == ([RESULT], 1)


def test_phases_without_records_are_passed_over(recording: Recording) -> None:
    recording.recorder.pytest_runtest_logreport(report(when="setup"))
    assert (recording.written, recording.recorder.count, recording.recorder.broken) == ([], 0, [])


def test_failed_check_is_not_a_broken_harness(recording: Recording) -> None:
    recording.recorder.pytest_runtest_logreport(report({RECORDS: [RESULT.to_json()]}, outcome="failed"))
    assert recording.recorder.broken == []


@pytest.mark.parametrize("when", ["teardown", "???", "setup"])
def test_failure_without_a_verdict_is_the_harness_s(recording: Recording, when: str) -> None:
    recording.recorder.pytest_runtest_logreport(report({}, when, "failed"))
    assert recording.recorder.broken == [f"c ({when}): long words"]


def test_internal_error_of_pytest_is_the_harness_s(recording: Recording) -> None:
    recording.recorder.pytest_internalerror("INTERNALERROR> oh")
    assert recording.recorder.broken == ["INTERNALERROR> oh"]


def test_target_that_is_not_ready_stops_the_session(recording: Recording) -> None:
    class Session:
        shouldstop: str | bool = False

    session = Session()
    recording.recorder.pytest_sessionstart(session)  # type: ignore[arg-type]
    lost = TargetNotReady("it starts", "no", "mend it", "its log").to_json()
    recording.recorder.pytest_runtest_logreport(report({NOT_READY: lost}, "setup", "failed"))
    assert recording.recorder.not_ready is not None
    assert (recording.recorder.not_ready.to_json(), session.shouldstop) == (lost, "no")
    assert recording.recorder.broken == []
