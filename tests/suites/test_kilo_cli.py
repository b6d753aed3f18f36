from __future__ import annotations

import io
from dataclasses import replace
from pathlib import Path

import pytest

from harness.builtin import find_target
from harness.errors import TargetNotReady, UsageError
from harness.launch import launched
from harness.parts import part_behind
from harness.pytest_run import collect, isolated, session_arguments
from harness.recorder import Recorder
from harness.replay import replay
from harness.requirements import catalogue
from harness.results import CheckResult, Writer
from harness.run import Observer, Order, run
from harness.subject import LiveSubject
from harness.suite_plugin import SuitePlugin
from harness.target import Target

SUITE = "kilo_cli"


def test_the_stand_in_conforms_and_its_replay_confirms_it(tmp_path: Path) -> None:
    results, error = run(Order(find_target("kilo-stand-in"), SUITE, out=tmp_path), Observer())
    assert error is None
    assert [check.check for check in results.checks if check.verdict != "pass"] == []
    assert [check.check for check in replay(results) if not check.agrees] == []


@pytest.mark.parametrize("version", ["7.0.33", "7.7.2", "7.7.7"])
def test_another_version_is_held_against_its_own_record(version: str, tmp_path: Path) -> None:
    order = Order(find_target(f"kilo-stand-in:{version}"), SUITE, "names or prompts", out=tmp_path)
    results, error = run(order, Observer())
    assert error is None
    assert [check.check for check in results.checks if check.verdict != "pass"] == []


NOTHING = {
    "exits well": "exit 0",
    "exits badly": "exit 1",
    "prints an object": "echo '{}'",
    "echoes its arguments": 'printf "%s\\n" "$@"',
    "says ok": 'echo \'{"type":"text","part":{"type":"text","text":"ok"}}\'',
}
"""Programs that do nothing of what a Kilo CLI does."""


@pytest.fixture
def program(request: pytest.FixtureRequest, tmp_path: Path) -> Target:
    """A target that is such a program."""
    path = tmp_path / "kilo"
    path.write_text(f"#!/bin/sh\n{NOTHING[request.param]}\n", encoding="utf-8")
    path.chmod(0o755)
    return replace(find_target(f"kilo:{path}"), deadline=10.0)


@pytest.mark.parametrize("program", NOTHING, indirect=True)
def test_a_program_that_does_nothing_passes_no_check(program: Target) -> None:
    needs = {requirement.id: requirement.capability for requirement in catalogue(SUITE)}
    told: list[CheckResult] = []
    with launched(program, part_behind(program, "stand-in", lambda *_: None)) as launch, isolated():
        recorder = Recorder(Writer(io.StringIO(), launch.redactor), told.append)
        plugin = SuitePlugin(LiveSubject(launch, "seed"), needs)
        pytest.main(session_arguments([planned.check for planned in collect(SUITE)]), plugins=[recorder, plugin])
    assert len(told) == len(collect(SUITE))
    assert [result.check for result in told if result.verdict not in ("fail", "inconclusive")] == []


@pytest.mark.parametrize("program", ["exits well"], indirect=True)
def test_a_program_that_does_nothing_is_not_judged(program: Target, tmp_path: Path) -> None:
    results, error = run(Order(program, SUITE, out=tmp_path), Observer())
    assert isinstance(error, TargetNotReady)
    assert results.checks == ()


def test_the_suite_is_refused_for_a_target_of_another_kind(tmp_path: Path) -> None:
    with pytest.raises(UsageError):
        run(Order(find_target("reference"), SUITE, out=tmp_path), Observer())
