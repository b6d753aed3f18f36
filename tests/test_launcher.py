from __future__ import annotations

import os
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from harness.builtin import find_target
from harness.check import NotMeasured
from harness.exchange import Exchange, Request
from harness.fakes.opencode.shim import LaunchFault
from harness.launch import Launch
from harness.launcher import Launcher
from harness.replay import replay
from harness.run import Observer, Order, run
from harness.verdict import summarise
from harness.world import LiveWorld


def _no_exchange(number: int) -> Exchange:
    raise AssertionError(number)


def test_a_target_that_does_not_start_our_opencode_is_not_measured() -> None:
    world = LiveWorld("c", "seed", _no_exchange)
    with pytest.raises(NotMeasured):
        Launcher(world, None, live=True).ask("launch", "exits at once", Request("GET", "/"), "main")


def test_launches_are_judged_and_replayed(tmp_path: Path) -> None:
    order = Order(find_target("launching-reference"), expression="test_launch", out=tmp_path)
    results, error = run(order, Observer())
    assert error is None
    assert {row.requirement.id: row.verdict for row in summarise(results).rows} == {"AE-FAULT-1": "pass"}
    assert all(check.agrees for check in replay(results))


def test_what_a_target_writes_that_is_launched_once_more_is_on_record(tmp_path: Path) -> None:
    order = Order(find_target("mutant:missing_opencode_crashes"), expression="test_launch", out=tmp_path)
    results, _ = run(order, Observer())
    assert ["StartFailed" in check.output for check in results.checks if check.verdict == "fail"] == [True]


def test_an_opencode_of_the_machine_cannot_be_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own = tmp_path / "bin" / "opencode"
    own.parent.mkdir()
    own.write_text("#!/bin/sh\n")
    own.chmod(0o755)
    monkeypatch.setenv("PATH", f"{os.environ['PATH']}{os.pathsep}{own.parent}")

    def again(_fault: LaunchFault) -> AbstractContextManager[Launch]:
        raise AssertionError("it must not be launched")

    launcher = Launcher(LiveWorld("c", "seed", _no_exchange), again, live=True)
    with pytest.raises(NotMeasured, match="installed"):
        launcher.ask("launch", "not installed", Request("GET", "/"), "main")
