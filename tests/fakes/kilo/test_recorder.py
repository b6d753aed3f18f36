"""What stands before a real CLI, with a script in the place of that CLI."""

from __future__ import annotations

import base64
import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from harness.fakes.kilo.shim import write_shim

_REAL = """#!/bin/sh
cat
printf '%s\\n' "$$" "$PWD" "$NAME" "$@"
exit 7
"""


@pytest.fixture
def shim(tmp_path: Path) -> Path:
    real = tmp_path / "real"
    real.write_text(_REAL)
    real.chmod(0o755)
    (tmp_path / "project").mkdir()
    (tmp_path / "project" / "kilo.json").write_text('{"model": "m"}')
    return write_shim(tmp_path / "shims", real)


def start(shim: Path, *arguments: str, given: str = "", at: str = ".") -> tuple[int, int, list[str]]:
    """The pid that was started, the exit status, and the lines that came."""
    env = {"NAME": "value", "PATH": "/usr/bin:/bin", "HOME": str(shim.parent)}
    pipe = subprocess.PIPE
    with subprocess.Popen([shim, *arguments], cwd=shim.parents[1] / at, env=env, stdin=pipe, stdout=pipe) as process:
        out, _ = process.communicate(given.encode(), timeout=20.0)
        return process.pid, process.returncode, out.decode().splitlines()


def noted(shim: Path) -> dict[str, Any]:
    (file,) = (shim.parent / "runs").glob("*.json")
    return dict(json.loads(file.read_text()))


def test_real_cli_gets_what_the_shim_was_given_and_its_end_is_that_of_the_shim(shim: Path) -> None:
    arguments = ["run", "--dir", "project", "--unheard-of", "--", 'say "it\'s"\n--dir']
    pid, status, lines = start(shim, *arguments, given="more\n")
    assert (status, lines) == (7, ["more", str(pid), str(shim.parents[1]), "value", *"\n".join(arguments).splitlines()])


@pytest.mark.parametrize(
    ("arguments", "at"),
    [
        (["run", "--dir", "project"], "."),
        (["run", "--dir=project", "--", "--dir", "nowhere"], "."),
        (["run"], "project"),
        (["run", "--", "--dir", "shims"], "project"),
    ],
)
def test_configuration_of_the_folder_is_written_down(shim: Path, arguments: list[str], at: str) -> None:
    start(shim, *arguments, at=at)
    note = noted(shim)
    assert (note["argv"], note["env"]["NAME"]) == (arguments, "value")
    assert [base64.b64decode(file["base64"]) for file in note["files"]] == [b'{"model": "m"}']
