from __future__ import annotations

import signal
import sys
from pathlib import Path

import pytest

from harness.reporting.files import write_reports
from harness.results import read
from harness.verdict import summarise
from tests.running import Run, canned, turnproof
from tests.sample_results import with_verdicts

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="processes are looked for through /proc")

UP, STARTED = "the parts behind it are up", "it starts"


def kill_at(line: str, *arguments: str, cwd: Path) -> tuple[dict[int, str], dict[int, str]]:
    """What was alive when the line appeared, and what was left after `kill -9`."""
    with Run("run", "--out", "out", *arguments, cwd=cwd) as run:
        run.until(line)
        before = run.living()
        run.signal(signal.SIGKILL)
        return before, run.left()


@pytest.mark.parametrize(
    ("line", "options"), [(UP, ()), (STARTED, ()), ("^3/", ("-n", "2"))], ids=["up", "started", "middle of two workers"]
)
def test_no_process_is_left_of_a_killed_run(tmp_path: Path, line: str, options: tuple[str, ...]) -> None:
    before, left = kill_at(line, "-k", "AUTH-1", "--opencode", "real", *options, cwd=tmp_path)
    assert any("opencode" in name for name in before.values())
    assert left == {}


@pytest.mark.parametrize("options", [(), ("-n", "2")], ids=["alone", "n2"])
def test_record_of_a_killed_run_says_that_it_is_unfinished(tmp_path: Path, options: tuple[str, ...]) -> None:
    _, left = kill_at("^3/", "--target", canned(tmp_path, delay=0.1), *options, cwd=tmp_path)
    assert left == {}
    results = read(tmp_path / "out" / "results.jsonl")
    assert (results.footer, results.finished, summarise(results).exit_code) == (None, False, 130)
    assert len(results.checks) >= 3
    told = turnproof("verify", "out/results.jsonl", cwd=tmp_path)
    assert told.returncode == 2
    assert "usage: the run did not finish" in told.stderr


def test_no_report_of_an_earlier_run_is_beside_the_record_of_a_killed_one(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    write_reports(with_verdicts("pass"), tmp_path / "out")
    kill_at("^3/", "--target", canned(tmp_path, delay=0.1), cwd=tmp_path)
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["results.jsonl"]
