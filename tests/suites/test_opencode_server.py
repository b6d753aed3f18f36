from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from harness.builtin import FAST, find_target
from harness.errors import UsageError
from harness.opencode import STAND_IN
from harness.replay import replay
from harness.run import Observer, Order, run
from harness.stand_ins import StandIn
from harness.target import Target


@pytest.fixture
def fast() -> Target:
    """The stand-in with short waits."""
    return replace(find_target(STAND_IN), opencode=StandIn(pace=FAST))


def test_the_stand_in_conforms_and_its_replay_confirms_it(fast: Target, tmp_path: Path) -> None:
    results, error = run(Order(fast, "opencode_server", out=tmp_path), Observer())
    assert error is None
    assert [check.check for check in results.checks if check.verdict != "pass"] == []
    assert [check.check for check in replay(results) if not check.agrees] == []


def test_a_run_holds_no_password(fast: Target, tmp_path: Path) -> None:
    run(Order(fast, "opencode_server", "health", out=tmp_path), Observer())
    assert "Basic [secret:key.main]" in (tmp_path / "results.jsonl").read_text(encoding="utf-8")


def test_the_suite_is_refused_for_a_target_of_another_kind(tmp_path: Path) -> None:
    with pytest.raises(UsageError):
        run(Order(find_target("reference"), "opencode_server", out=tmp_path), Observer())
