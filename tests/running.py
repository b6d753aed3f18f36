"""turnproof as its users run it: as a command, whose processes are known by a word in their environment.

The word stands in PATH, the one variable that reaches every process of a run.
"""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import sysconfig
import time
import uuid
from collections.abc import Mapping, Sequence
from pathlib import Path

COMMAND = str(Path(sysconfig.get_path("scripts"), "turnproof"))
ENDPOINTS = Path(__file__).parent / "endpoints"
EXAMPLES = Path(__file__).parent.parent / "docs" / "examples"
SECONDS = 300.0
"""How long a run may take on a machine that does much else."""

_CANNED = """
kind = "agent-endpoint"
name = "canned"
deadline = 5.0
{changes}
[policies]
non_boolean_stream = "reject"

[start]
command = ["{{python}}", "{program}", "{{port}}"]
env = {{ ENDPOINT_KEY = "{{owner_secret}}", DELAY = "{delay}" }}

[ready]
log = "Running on"

[[agents]]
id = "solver"

[[keys]]
name = "main"
state = "valid"
agents = ["solver"]
command = ["{{python}}", "-c", "print('{{owner_secret}}')"]
"""


def canned(folder: Path, delay: float = 0.0, changes: str = "") -> str:
    """A target file for the canned endpoint, which has nothing behind it and so is quick to start."""
    path = folder / "canned.toml"
    path.write_text(_CANNED.format(program=ENDPOINTS / "canned.py", delay=delay, changes=changes), encoding="utf-8")
    return str(path)


def turnproof(
    *arguments: str, cwd: Path, env: Mapping[str, str] | None = None, command: Sequence[str] = (COMMAND,)
) -> subprocess.CompletedProcess[str]:
    """Run it to its end."""
    return subprocess.run(
        [*command, *arguments],
        cwd=cwd,
        env={**os.environ, **(env or {})},
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )


class Run:
    """A turnproof that is running."""

    def __init__(self, *arguments: str, cwd: Path, env: Mapping[str, str] | None = None) -> None:
        self._word = uuid.uuid4().hex
        self._process = subprocess.Popen(
            [COMMAND, *arguments],
            cwd=cwd,
            env={**os.environ, **(env or {}), "PATH": f"{os.environ['PATH']}{os.pathsep}/{self._word}"},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
            # A shell that runs the tests in the background has it ignored, and a program keeps what it inherits.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # noqa: PLW1509 - it does no more
        )
        self.said = ""

    def __enter__(self) -> Run:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.wait()
        assert self._process.stdout is not None
        self._process.stdout.close()

    def until(self, pattern: str) -> None:
        """Wait for a line of its output; it is an error when it ends without."""
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self.said += line
            if re.search(pattern, line):
                return
        raise AssertionError(f"no line with {pattern!r} in:\n{self.said}")

    def signal(self, number: signal.Signals, group: bool = False) -> None:
        """Signal it, or as a terminal does its whole process group."""
        (os.killpg if group else os.kill)(self._process.pid, number)

    def wait(self) -> int:
        """Its exit code, once it has ended; what it said is whole then."""
        assert self._process.stdout is not None
        self.said += self._process.stdout.read()
        return self._process.wait(SECONDS)

    def left(self, within: float = 30.0) -> dict[int, str]:
        """What is still alive of all that it started, after a moment to end; by pid."""
        deadline = time.monotonic() + within
        while (living := self.living()) and time.monotonic() < deadline:
            time.sleep(0.02)
        return living

    def living(self) -> dict[int, str]:
        """What is alive of all that it started."""
        return {pid: name for pid, name in _processes_with(self._word).items() if pid != self._process.pid}


def _processes_with(word: str) -> dict[int, str]:
    found: dict[int, str] = {}
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if word.encode() in (folder / "environ").read_bytes():
                found[int(folder.name)] = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode()[:200]
    return found
