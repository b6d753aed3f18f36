from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from harness.errors import TargetNotReady
from harness.results import CheckResult
from harness.subject import Context
from harness.suite_plugin import NOT_READY, RECORDS, SuitePlugin
from harness.world import LiveWorld
from tests.sample_results import FACTS

PLAIN = {"AE-AUTH-1": None, "AE-RATE-1": "rate_cap", "AE-KEY-1": "mint"}


class Plain:
    """A subject without a target: notes what it is asked."""

    def __init__(
        self, error: Exception | None = None, at_end: Exception | None = None, gone: Exception | None = None
    ) -> None:
        self.error, self.at_end, self.gone = error, at_end, gone
        self.ended: list[CheckResult] = []

    def begin(self, check: str) -> Context:
        if self.error:
            raise self.error
        return Context(LiveWorld(check, "seed", lambda _: pytest.fail("no exchange")), FACTS, {}, None)

    def end(self, context: Context, result: CheckResult) -> list[dict[str, Any]]:
        if self.at_end:
            raise self.at_end
        self.ended.append(result)
        return [result.to_json()]

    def stays_up(self) -> None:
        if self.gone:
            raise self.gone


class Reports:
    """Keeps the reports of a run."""

    def __init__(self) -> None:
        self.all: list[pytest.TestReport] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.all.append(report)


@pytest.fixture(autouse=True)
def _only_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    monkeypatch.delenv("PYTEST_ADDOPTS", raising=False)


def make(pytester: pytest.Pytester, body: str, subject: Plain, needs: Mapping[str, str | None] = PLAIN) -> Reports:
    """Run one check with this body against a subject."""
    pytester.makepyfile(f"import pytest\nfrom harness.check import *\nfrom harness.results import Finding\n{body}")
    reports = Reports()
    pytester.inline_run("-p", "harness.worker", plugins=[SuitePlugin(subject, needs), reports])
    return reports


def verdict(pytester: pytest.Pytester, body: str, marks: str = '"AE-AUTH-1"') -> CheckResult:
    subject = Plain()
    make(pytester, f"@pytest.mark.requirement({marks})\ndef test_x():\n    {body}", subject)
    (result,) = subject.ended
    return result


@pytest.mark.parametrize(
    ("body", "wanted"),
    [
        ("pass", "pass"),
        ("expect(False, 'a', 'b', 'c')", "fail"),
        ("raise Inconclusive('why')", "inconclusive"),
        ("raise NotMeasured('why')", "not-measured"),
        ("raise NotApplicable('why')", "not-applicable"),
        ("assert False", "error"),
        ("1 / 0", "error"),
        ("pytest.fail('x')", "error"),
        ("pytest.skip('x')", "error"),
        ("pytest.xfail('x')", "error"),
        ("raise SystemExit(0)", "error"),
        ("from harness.errors import UsageError; raise UsageError('x')", "error"),
    ],
)
def test_verdict_is_how_the_check_ended(pytester: pytest.Pytester, body: str, wanted: str) -> None:
    assert verdict(pytester, body).verdict == wanted


def test_finding_is_kept(pytester: pytest.Pytester) -> None:
    found = verdict(pytester, "expect(False, 'a', 'b', 'c')").finding
    assert found is not None
    assert (found.expected, found.came, found.mend) == ("a", "b", "c")


def test_reason_is_kept(pytester: pytest.Pytester) -> None:
    assert verdict(pytester, "raise NotMeasured('nobody watches')").reason == "nobody watches"


def test_error_tells_where_it_came_from(pytester: pytest.Pytester) -> None:
    reason = verdict(pytester, "1 / 0").reason
    assert reason is not None
    assert "test_error_tells_where_it_came_from.py" in reason
    assert "ZeroDivisionError" in reason


def test_each_requirement_is_claimed_once(pytester: pytest.Pytester) -> None:
    assert verdict(pytester, "pass", '"AE-AUTH-1", "AE-KEY-1", "AE-AUTH-1"').requirements == ("AE-AUTH-1", "AE-KEY-1")


def test_check_of_a_capability_that_is_not_declared_is_not_applicable(pytester: pytest.Pytester) -> None:
    result = verdict(pytester, "raise AssertionError('was made')", '"AE-RATE-1"')
    assert (result.verdict, result.reason) == (
        "not-applicable",
        "AE-RATE-1 is for targets with the capability rate_cap",
    )


def test_check_of_a_declared_capability_is_made(pytester: pytest.Pytester) -> None:
    assert verdict(pytester, "expect(False, 'a', 'b', 'c')", '"AE-KEY-1"').verdict == "fail"


def test_verdict_of_a_fixture_is_the_check_s(pytester: pytest.Pytester) -> None:
    subject = Plain()
    body = """
@pytest.fixture
def needed():
    raise NotMeasured("nobody")

@pytest.mark.requirement("AE-AUTH-1")
def test_x(needed): pass
"""
    make(pytester, body, subject)
    assert [(result.verdict, result.reason) for result in subject.ended] == [("not-measured", "nobody")]


def test_each_check_is_recorded_once(pytester: pytest.Pytester) -> None:
    subject = Plain()
    body = (
        '@pytest.mark.requirement("AE-AUTH-1")\n@pytest.mark.parametrize("n", [1, 2, 3])\ndef test_x(n): assert n != 2'
    )
    reports = make(pytester, body, subject)
    assert [result.verdict for result in subject.ended] == ["pass", "error", "pass"]
    assert [report.when for report in reports.all if hasattr(report, RECORDS)] == ["call"] * 3


def test_interrupted_check_is_not_recorded(pytester: pytest.Pytester) -> None:
    subject = Plain()
    pytester.makepyfile("def test_x(): raise KeyboardInterrupt")
    with pytest.raises(KeyboardInterrupt):
        pytester.inline_run("-p", "harness.worker", plugins=[SuitePlugin(subject, PLAIN)])
    assert subject.ended == []


def not_ready(reports: Reports) -> list[tuple[str, str]]:
    told = [getattr(report, NOT_READY) for report in reports.all if hasattr(report, NOT_READY)]
    return [(lost["step"], lost["message"]) for lost in told]


def test_target_that_does_not_come_up_is_no_verdict(pytester: pytest.Pytester) -> None:
    subject = Plain(TargetNotReady("it starts", "no such file"))
    reports = make(pytester, '@pytest.mark.requirement("AE-AUTH-1")\ndef test_x(): pass', subject)
    assert (not_ready(reports), subject.ended) == ([("it starts", "no such file (in test_x)")], [])


def test_target_that_is_lost_when_a_check_ends_is_no_verdict(pytester: pytest.Pytester) -> None:
    subject = Plain(at_end=TargetNotReady("it is held", "gone"))
    reports = make(pytester, '@pytest.mark.requirement("AE-AUTH-1")\ndef test_x(): pass', subject)
    assert (not_ready(reports), subject.ended) == ([("it is held", "gone (in test_x)")], [])


def test_check_in_which_the_target_died_keeps_its_verdict(pytester: pytest.Pytester) -> None:
    subject = Plain(gone=TargetNotReady("it stays up", "it was killed", "see its output", "out of memory"))
    reports = make(pytester, '@pytest.mark.requirement("AE-AUTH-1")\ndef test_x(): assert False', subject)
    assert [result.verdict for result in subject.ended] == ["error"]
    (report,) = (report for report in reports.all if hasattr(report, RECORDS))
    told = {"step": "it stays up", "message": "it was killed (in test_x)", "hint": "see its output"}
    assert getattr(report, NOT_READY) == {**told, "log": "out of memory"}
