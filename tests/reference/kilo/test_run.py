from __future__ import annotations

import threading
import time
from pathlib import Path

import pytest

from harness.reference.kilo.events import Text, read_event
from harness.reference.kilo.outcome import Ran
from harness.reference.kilo.run import Folder, Runner
from tests.reference.kilo.lines import TEXT

ENV = {"PATH": "/usr/bin:/bin"}


def run(script: str, seconds: float = 20.0) -> Ran:
    with Folder(None) as folder:
        return Runner(read_event).run(["sh", "-c", script], ENV, folder, time.monotonic() + seconds)


def test_events_status_and_the_last_words_are_told() -> None:
    ran = run(f"echo '{TEXT.decode()}'; echo first >&2; printf '\\033[91mlast\\033[0m\\n' >&2; exit 3")
    assert ran == Ran((Text("prt_2", "msg_1", "größer"),), 3, errors="last")


def test_a_run_that_is_too_slow_is_ended_and_what_it_said_is_kept() -> None:
    began = time.monotonic()
    ran = run(f"echo '{TEXT.decode()}'; trap '' TERM; while true; do sleep 0.1; done", 0.5)
    assert (len(ran.events), ran.exit_status) == (1, None)
    assert time.monotonic() - began < 10


def test_what_cannot_be_started_is_told() -> None:
    with Folder(None) as folder:
        ran = Runner(read_event).run(["no-such-kilo"], ENV, folder, time.monotonic() + 5)
        assert ran.unstarted is not None
        assert "no-such-kilo" in ran.unstarted


def test_what_outlives_the_command_is_ended(tmp_path: Path) -> None:
    mark = tmp_path / "pid"
    run(f"setsid sleep 600 & echo $! > {mark}")
    assert not Path("/proc", mark.read_text().strip()).exists()


def test_closing_ends_what_runs_and_what_is_begun_later() -> None:
    runner = Runner(read_event)
    with Folder(None) as folder:
        closing = threading.Timer(0.3, runner.close)
        closing.start()
        ran = runner.run(["sh", "-c", "sleep 600"], ENV, folder, time.monotonic() + 60)
        closing.join()
        later = runner.run(["sh", "-c", "sleep 600"], ENV, folder, time.monotonic() + 60)
    assert (ran.exit_status, later.exit_status) == (-15, -15)


def test_a_folder_is_gone_afterwards() -> None:
    with Folder(None) as folder:
        root = folder.root
        assert (root / "project").is_dir()
        assert (root / "home" / "tmp").is_dir()
    assert not root.exists()


@pytest.mark.parametrize("name", ["kilo.json", "opencode.json", "kilo.jsonc", ".kilo", ".kilocode"])
def test_a_project_is_copied_without_other_settings_of_kilo(tmp_path: Path, name: str) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / name).write_text("kept below")
    (tmp_path / "main.py").write_text("x")
    (tmp_path / name).write_text("{}")
    with Folder(str(tmp_path)) as folder:
        assert sorted(path.name for path in folder.project.iterdir()) == ["main.py", "src"]
        assert (folder.project / "src" / name).exists()
    assert (tmp_path / name).exists()
