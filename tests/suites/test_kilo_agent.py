"""The suite on agents that do nothing, and on a record."""

from __future__ import annotations

import io
from dataclasses import replace
from pathlib import Path

import pytest

from harness.builtin import find_target
from harness.kilo_agent_target import REFERENCE
from harness.kilo_behind import KiloPart
from harness.launch import launched
from harness.pytest_run import collect, isolated, session_arguments
from harness.recorder import Recorder
from harness.redaction import Redactor
from harness.replay import replay
from harness.requirements import catalogue
from harness.results import CheckResult, Writer
from harness.run import Observer, Order, run
from harness.subject import LiveSubject
from harness.suite_plugin import SuitePlugin
from harness.target import Ready, Start, Target

SUITE = "kilo_agent"
NOTHING = Path(__file__).parents[1] / "endpoints" / "nothing_agent.py"
MODES = ("gone", "empty", "500", "echo", "400")


def doing_nothing(mode: str) -> Target:
    reference = find_target(REFERENCE)
    command = ("false",) if mode == "gone" else ("{python}", "-I", "-S", str(NOTHING), mode, "{port}", "{config}")
    return replace(
        reference, name=mode, start=Start(command, {}), ready=Ready(path="/health", within=5.0), deadline=1.0
    )


def judge(target: Target) -> list[CheckResult]:
    """All checks against a target, without the doctor who would refuse it."""
    needs = {requirement.id: requirement.capability for requirement in catalogue(SUITE)}
    told: list[CheckResult] = []
    with launched(target, KiloPart()) as launch:
        plugin = SuitePlugin(LiveSubject(launch, "seed"), needs)
        recorder = Recorder(Writer(io.StringIO(), Redactor()), told.append)
        with isolated():
            pytest.main(session_arguments([planned.check for planned in collect(SUITE)]), plugins=[recorder, plugin])
    assert recorder.broken == []
    return told


@pytest.mark.parametrize("mode", MODES)
def test_no_check_passes_on_an_agent_that_does_nothing(mode: str) -> None:
    results = judge(doing_nothing(mode))
    assert len(results) == len(collect(SUITE))
    assert [result.check for result in results if result.verdict == "pass"] == []
    assert [result.reason for result in results if result.verdict == "error"] == []


def test_the_reference_conforms_and_its_replay_confirms_it(tmp_path: Path) -> None:
    results, error = run(Order(find_target(REFERENCE), SUITE, out=tmp_path), Observer())
    assert error is None
    assert [check.check for check in results.checks if check.verdict != "pass"] == []
    assert [check.check for check in replay(results) if not check.agrees] == []
