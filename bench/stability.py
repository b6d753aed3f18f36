"""Many runs in a row: one set of verdicts, and nothing left behind: `python -m bench.stability [--runs 50]`.

Every second run has two workers and its checks in a random order. The processes of a run are known by a word in PATH,
which all of them inherit.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
import uuid
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from bench.kills import processes_with
from harness.builtin import find_target
from harness.kinds import kind_for
from harness.results import RESULTS, read
from harness.run import Observer, Order, run

_PATIENCE = 5.0


def verdicts_in(out: Path) -> dict[str, str]:
    """The verdict on each check, and the outcome of the run under the name of `outcome`."""
    results = read(out / RESULTS)
    outcome = results.footer.outcome if results.footer else "no footer"
    return {"outcome": outcome, **{check.check: check.verdict for check in results.checks}}


def left_behind(word: str) -> list[str]:
    """The command lines of the processes that a run has left, after a moment to end."""
    end = time.monotonic() + _PATIENCE
    while (left := processes_with(word)) and time.monotonic() < end:
        time.sleep(0.01)
    return list(left.values())


def one(suite: str, target: str | None, workers: int, shuffle: str | None, out: Path) -> tuple[float, list[str]]:
    """Make a run in a process of its own: the seconds that it took, and what it left."""
    word = uuid.uuid4().hex
    env = {**os.environ, "PATH": f"{os.environ['PATH']}{os.pathsep}/{word}"}
    command = [sys.executable, "-m", "bench.stability", "--suite", suite, "--workers", str(workers), "--out", str(out)]
    command += ["--target", target] if target else []
    command += ["--shuffle", shuffle] if shuffle else []
    began = time.monotonic()
    subprocess.run(command, env=env, check=False)
    return time.monotonic() - began, left_behind(word)


def differences(first: Mapping[str, str], other: Mapping[str, str]) -> list[str]:
    """What a run says otherwise than the first one did, a line each."""
    names = sorted({*first, *other})
    return [f"{n}: {first.get(n)} at first, then {other.get(n)}" for n in names if first.get(n) != other.get(n)]


def main(arguments: Sequence[str]) -> int:
    """Make the runs and print each; 1 when verdicts differ or something is left."""
    parser = argparse.ArgumentParser("bench.stability", description=__doc__)
    parser.add_argument("--runs", type=int, default=50)
    parser.add_argument("--suite", default="agent_endpoint")
    parser.add_argument("--target")
    parser.add_argument("--workers", type=int, default=0, help=argparse.SUPPRESS)
    parser.add_argument("--shuffle", help=argparse.SUPPRESS)
    parser.add_argument("--out", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.out is not None:
        target = find_target(options.target or kind_for(options.suite).default)
        run(Order(target, options.suite, out=options.out, workers=options.workers, shuffle=options.shuffle), Observer())
        return 0
    return _many(options.suite, options.target, options.runs)


def _many(suite: str, target: str | None, runs: int) -> int:
    first: dict[str, str] = {}
    faults = 0
    with tempfile.TemporaryDirectory() as folder:
        for number in range(runs):
            workers, shuffle = (2, f"order {number}") if number % 2 else (0, None)
            seconds, left = one(suite, target, workers, shuffle, Path(folder))
            verdicts = verdicts_in(Path(folder))
            first = first or verdicts
            wrong = [*differences(first, verdicts), *(f"left behind: {line}" for line in left)]
            faults += bool(wrong)
            counts = ", ".join(f"{count} {verdict}" for verdict, count in Counter(verdicts.values()).most_common())
            how = f"-n {workers}, {'random order' if shuffle else 'own order'}"
            sys.stdout.write("\n  ".join([f"run {number + 1:2}, {how}: {counts}; {seconds:.1f} s", *wrong]) + "\n")
            sys.stdout.flush()
    sys.stdout.write(f"{runs} runs, {faults} of them otherwise than the first or with something left\n")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
