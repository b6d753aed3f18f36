from __future__ import annotations

import fcntl
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from harness.work_folder import work_folder

_HELD = """
import time
from harness.work_folder import work_folder
with work_folder() as folder:
    (folder / "file").write_text("left")
    print(folder, flush=True)
    time.sleep(600)
"""


@pytest.fixture(autouse=True)
def parent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where work folders are made."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    return tmp_path


def test_folder_is_removed_with_all_that_is_in_it() -> None:
    with work_folder() as folder:
        (folder / "below").mkdir()
        (folder / "below" / "file").touch()
    assert not folder.exists()


def test_folder_is_removed_when_the_work_fails() -> None:
    with pytest.raises(ZeroDivisionError), work_folder() as folder:
        raise ZeroDivisionError
    assert not folder.exists()


def test_folder_of_a_killed_process_is_removed_by_the_next_and_not_before(parent: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", _HELD], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        held = Path(process.stdout.readline().strip())
        with work_folder():
            assert (held / "file").read_text() == "left"
        process.send_signal(signal.SIGKILL)
    assert held.exists()
    with work_folder() as folder:
        assert list(parent.iterdir()) == [folder]


@pytest.mark.parametrize(
    "name", ["turnproof-report", "turnproof-work-", "turnproof-work-mine", "turnproof-work-abcdefg1x"]
)
def test_folder_of_another_name_is_left(parent: Path, name: str) -> None:
    (parent / name).mkdir()
    with work_folder():
        pass
    assert (parent / name).exists()


def test_link_is_not_followed(parent: Path) -> None:
    kept = parent / "kept"
    kept.mkdir()
    (parent / "turnproof-work-abcdefg1").symlink_to(kept)
    with work_folder():
        pass
    assert kept.exists()


def test_folder_taken_for_abandoned_before_it_was_locked_is_made_again(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[str] = []
    lock = fcntl.flock

    def late(file: int, operation: int) -> None:
        made.append(str(Path(f"/proc/self/fd/{file}").readlink()))
        if len(made) == 1:
            Path(made[0]).rmdir()
        lock(file, operation)

    monkeypatch.setattr(fcntl, "flock", late)
    with work_folder() as folder:
        assert folder.exists()
        assert made == [made[0], str(folder)]
        assert made[0] != str(folder)
