from __future__ import annotations

import signal
import sys
from pathlib import Path

import pytest

from harness.results import read
from tests.running import Run, canned

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="processes are looked for through /proc")

CTRL_C = (signal.SIGINT, True)
"""A terminal sends it to all processes of the group, workers too."""

TERM = (signal.SIGTERM, False)


def interrupted(run: Run, line: str, how: tuple[signal.Signals, bool]) -> int:
    """The exit code of a run that was interrupted when the line appeared."""
    run.until(line)
    run.signal(*how)
    code = run.wait()
    assert run.left() == {}, "something is left running"
    assert "Traceback" not in run.said
    return code


@pytest.mark.parametrize("how", [CTRL_C, TERM], ids=["ctrl-c", "term"])
@pytest.mark.parametrize("options", [(), ("-n", "2")], ids=["alone", "n2"])
def test_what_was_measured_is_kept(tmp_path: Path, options: tuple[str, ...], how: tuple[signal.Signals, bool]) -> None:
    with Run("run", "--target", canned(tmp_path, delay=0.2), "--out", "out", *options, cwd=tmp_path) as run:
        assert interrupted(run, "^3/", how) == 130
    results = read(tmp_path / "out" / "results.jsonl")
    assert results.footer is not None
    assert (results.footer.outcome, results.footer.run) == ("interrupted", len(results.checks))
    assert 3 <= len(results.checks) < results.footer.planned
    assert "unfinished" in (tmp_path / "out" / "summary.md").read_text()
    assert (tmp_path / "out" / "junit.xml").exists()
    assert "unfinished: " in run.said


def test_parts_behind_the_target_are_ended_too(tmp_path: Path) -> None:
    with Run("run", "-k", "AUTH", "--out", "out", cwd=tmp_path) as run:
        assert interrupted(run, "^3/", CTRL_C) == 130


@pytest.mark.parametrize("how", [CTRL_C, TERM], ids=["ctrl-c", "term"])
def test_run_is_interrupted_while_the_target_comes_up(tmp_path: Path, how: tuple[signal.Signals, bool]) -> None:
    target = canned(tmp_path).replace("canned.toml", "late.toml")
    text = (tmp_path / "canned.toml").read_text()
    Path(target).write_text(text.replace('log = "Running on"', 'log = "never"\nwithin = 600'))
    with Run("run", "--target", target, "--out", "out", cwd=tmp_path) as run:
        assert interrupted(run, "it starts", how) == 130
    footer = read(tmp_path / "out" / "results.jsonl").footer
    assert footer is not None
    assert (footer.outcome, footer.run) == ("interrupted", 0)


@pytest.mark.parametrize("how", [CTRL_C, TERM], ids=["ctrl-c", "term"])
def test_doctor_is_interrupted_without_a_trace(tmp_path: Path, how: tuple[signal.Signals, bool]) -> None:
    path = Path(canned(tmp_path))
    path.write_text(path.read_text().replace('log = "Running on"', 'log = "never"\nwithin = 600'))
    with Run("doctor", str(path), cwd=tmp_path) as run:
        assert interrupted(run, "it starts", how) == 130
    assert "interrupted" in run.said
