"""`kill -9` of runs at random moments, and what is left of them: `python -m bench.kills [COUNT]`, nothing to hope for.

Half of the runs have two workers. The processes of a run are known by a word in PATH, which all of them inherit.
"""

from __future__ import annotations

import contextlib
import os
import random
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Sequence
from pathlib import Path

_LATEST_KILL = 10.0
_PATIENCE = 20.0
_COMMAND = (sys.executable, "-c", "from harness.cli import main; main()", "run")


def processes_with(word: str) -> dict[int, str]:
    """The living processes with `word` in their environment, by pid, with their command lines."""
    found: dict[int, str] = {}
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if word.encode() in (folder / "environ").read_bytes():
                found[int(folder.name)] = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode()
    return found


def kill_one(after: float, workers: int, out: Path) -> tuple[int, dict[int, str], float]:
    """Kill a run after so many seconds: how many processes it had, what was left in the end, and when all were gone."""
    word = uuid.uuid4().hex
    env = {**os.environ, "PATH": f"{os.environ['PATH']}{os.pathsep}/{word}"}
    command = [*_COMMAND, "-n", str(workers), "--out", str(out)]
    with subprocess.Popen(command, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as run:
        with contextlib.suppress(subprocess.TimeoutExpired):
            run.wait(after)
        had = len(processes_with(word))
        run.kill()
    killed = time.monotonic()
    while (left := processes_with(word)) and time.monotonic() < killed + _PATIENCE:
        time.sleep(0.01)
    return had, left, time.monotonic() - killed


def main(arguments: Sequence[str]) -> int:
    """Kill so many runs (20) and print each; 1 when anything was left."""
    count = int(arguments[0]) if arguments else 20
    moments = random.Random(count)
    survivors = 0
    with tempfile.TemporaryDirectory() as folder:
        for number in range(count):
            after, workers = moments.uniform(0.0, _LATEST_KILL), 2 * (number % 2)
            had, left, gone = kill_one(after, workers, Path(folder))
            survivors += len(left)
            shown = "; ".join(left.values()) or "nothing"
            sys.stdout.write(f"-n {workers}, killed after {after:4.1f} s with {had:2} processes: ")
            sys.stdout.write(f"{shown} left, {gone:.2f} s later\n")
            sys.stdout.flush()
    sys.stdout.write(f"{count} runs killed, {survivors} processes left\n")
    return 1 if survivors else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
