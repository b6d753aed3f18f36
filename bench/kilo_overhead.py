"""What a start of the Kilo CLI costs under the harness, over a bare one: `python -m bench.kilo_overhead [VERSION]`.

Both ask the same model server for the same answer, in turns, each in fresh folders with the same variables. The bare
one is a plain child process that talks to the model server directly; the other is what every check starts: supervised,
watched for foreign hosts, and recorded.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from harness.behind import ModelBehind
from harness.builtin import find_target
from harness.fakes.model.script import Answer, Rule
from harness.fetch import fetch
from harness.kilo_cli import APART, OFF, filled
from harness.kilo_starts import turn
from harness.launch import Launch, launched, part_behind

_BOUND = 1.05
_WORD = "overhead"


def bare(binary: Path, model_url: str) -> float:
    """The seconds that a bare start takes."""
    with tempfile.TemporaryDirectory() as folder:
        places = {"project": f"{folder}/project", "own": f"{folder}/own", "model_url": model_url}
        for name in ("project", "home"):
            Path(folder, name).mkdir()
        start = turn(prompt=_WORD)
        Path(folder, "project", "kilo.json").write_text(filled(json.dumps(start.config), places), encoding="utf-8")
        apart = {name: filled(value, places) for name, value in APART.items()}
        env = {"PATH": os.environ["PATH"], "HOME": f"{folder}/home", **apart, **OFF}
        began = time.monotonic()
        said = subprocess.run(
            [binary, *(filled(argument, places) for argument in start.arguments)],
            cwd=f"{folder}/project",
            env=env,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=True,
        )
        seconds = time.monotonic() - began
    assert b"ok of the model" in said.stdout, said
    return seconds


def harnessed(launch: Launch) -> float:
    """The seconds that a start of a check's takes, with all that is done before and after it."""
    assert launch.kilo is not None
    began = time.monotonic()
    ran = launch.kilo.cli.begin(turn(prompt=_WORD)).result(launch.target.deadline)
    launch.live.close_window()
    seconds = time.monotonic() - began
    assert "ok of the model" in ran.stdout, ran
    return seconds


def main(arguments: Sequence[str]) -> int:
    """Time both in turns, print each pair and the ratio of the medians; 1 when it is more than 5 % over."""
    parser = argparse.ArgumentParser("bench.kilo_overhead", description=__doc__)
    parser.add_argument("version", nargs="?", default="7.7.9")
    parser.add_argument("--pairs", type=int, default=10)
    options = parser.parse_args(arguments)
    target = find_target(f"kilo@{options.version}")
    part = part_behind(target, "stand-in", lambda *_: None)
    pairs = []
    with launched(target, part) as launch:
        assert isinstance(launch.behind, ModelBehind)
        rules = (Rule(_WORD, (Answer(text="ok of the model"),)),)
        binary = fetch(f"kilo@{options.version}")
        for number in range(options.pairs + 1):
            launch.live.use_model_rules(rules)
            pair = bare(binary, launch.behind.model_url), harnessed(launch)
            sys.stdout.write(f"{number or 'warm-up'}: bare {pair[0]:.2f} s, harness {pair[1]:.2f} s\n")
            sys.stdout.flush()
            pairs.append(pair)
    bare_median, harness_median = (statistics.median(times) for times in zip(*pairs[1:], strict=True))
    ratio = harness_median / bare_median
    sys.stdout.write(f"medians: bare {bare_median:.2f} s, harness {harness_median:.2f} s: {ratio - 1:+.1%}\n")
    return 1 if ratio > _BOUND else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
