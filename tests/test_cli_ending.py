"""How a command ends where something is wrong that has nothing to do with what it was asked."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from harness.cli.ending import UNREAD, reporting_errors, show_error
from harness.errors import UsageError
from harness.results import RESULTS, read
from tests.running import COMMAND, SECONDS, canned

linux = pytest.mark.skipif(
    sys.platform != "linux", reason="what a closed stream or a full disk is to others may differ"
)


def nothing() -> None:
    """Done before a command that is to find all in order."""


def ended(
    *arguments: str, cwd: Path, before: Callable[[], object] = nothing, stdout: int = subprocess.PIPE
) -> subprocess.CompletedProcess[str]:
    """A command that ended, in whose process something was done before it began."""
    return subprocess.run(
        [COMMAND, *arguments],
        cwd=cwd,
        preexec_fn=before,
        stdout=stdout,
        stderr=subprocess.PIPE,
        text=True,
        timeout=SECONDS,
        check=False,
    )


@pytest.mark.parametrize("error", [ZeroDivisionError("x"), OSError(28, "No space left on device")], ids=repr)
def test_an_error_that_nobody_foresaw_is_no_verdict(error: Exception, capsys: pytest.CaptureFixture[str]) -> None:
    def command() -> int:
        raise error

    with pytest.raises(SystemExit) as caught:
        reporting_errors(command)()
    assert caught.value.code == 4
    said = capsys.readouterr().err
    assert str(error) in said
    assert "turnproof failed" in said


def test_a_hint_cannot_act_on_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    show_error(UsageError("m", "use \x1b[31mEVIL\x07"))
    assert "use \\x1b[31mEVIL\\x07" in capsys.readouterr().err


@linux
@pytest.mark.parametrize("closed", [(0,), (1,), (2,), (0, 1, 2)], ids=str)
def test_a_stream_that_the_caller_closed_changes_nothing(closed: tuple[int, ...], tmp_path: Path) -> None:
    def close() -> None:
        for number in closed:
            os.close(number)

    arguments = ("run", "--target", canned(tmp_path), "-k", "good_key", "--out", "out")
    told = ended(*arguments, cwd=tmp_path, before=close)
    assert told.returncode == ended(*arguments, cwd=tmp_path).returncode
    assert read(tmp_path / "out" / RESULTS).finished


@linux
def test_a_reader_that_leaves_is_no_verdict(tmp_path: Path) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    for arguments in (("run", "--list"), ("docs", "targets")):
        told = ended(*arguments, cwd=tmp_path, stdout=writing)
        assert (told.returncode, told.stderr) == (UNREAD, "")
    os.close(writing)


@linux
def test_results_for_which_there_is_no_room_are_no_verdict(tmp_path: Path) -> None:
    (tmp_path / RESULTS).symlink_to("/dev/full")
    told = ended("run", "--target", canned(tmp_path), "-k", "good_key", "--out", ".", cwd=tmp_path)
    assert told.returncode == 4
    assert "turnproof failed: the results cannot be written: No space left on device" in told.stderr
