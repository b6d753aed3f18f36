from __future__ import annotations

from pathlib import Path

import pytest

from harness.builtin import find_target
from harness.check import NotMeasured
from harness.exchange import Exchange, Request
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
