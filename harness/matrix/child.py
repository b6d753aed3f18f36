"""One cell, run as a `turnproof run` of its own under a supervisor, on whichever machine this is."""

from __future__ import annotations

import os
import platform
import signal
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

from harness.errors import HarnessError, TurnproofError
from harness.fetch import fetch
from harness.results import RESULTS
from harness.supervised import StartFailed, Supervised
from harness.verdict import UNFINISHED
from harness.work_folder import work_folder

_PROGRAM = "from harness.cli import main; main()"
_GRACE = 60.0
"""How long a run that is ended may take to end its target and to write its footer."""
_LOOK = 0.5
_LAST_LINES = 15


@dataclass(frozen=True)
class Returned:
    """What came back of a cell, whole.

    `exit_code` is that of the run, or of the error that kept it from beginning; `results` is its results file, empty
    when it has none; `said` is the end of what it told people; `ended` says why we ended it, empty when it ended by
    itself. `node` and `turnproof` say where it ran, and with which version.
    """

    exit_code: int
    results: bytes
    said: str
    seconds: float
    ended: str = ""
    node: str = ""
    turnproof: str = ""


def run_cell(
    arguments: Sequence[str],
    binary: str,
    within: float,
    *,
    say: Callable[[str], None] = lambda _: None,
    stopped: Callable[[], bool] = lambda: False,
) -> Returned:
    """Run a cell to its end; `say` is told the last line of its output now and then, and once it has ended.

    It is ended when it takes longer than `within` seconds, or once `stopped` is true. Never raises a TurnproofError:
    what kept the cell from running is in what is returned.
    """
    begun = time.monotonic()
    try:
        fetch(binary, say=say, seconds=within)
        with work_folder() as out:
            code, said, ended = _run(arguments, out, begun + within, say, stopped)
            results = _bytes(out / RESULTS)
    except TurnproofError as error:
        code, said, ended, results = error.exit_code, f"{error.message}\n{error.hint}".strip(), "", b""
    took = time.monotonic() - begun
    return Returned(code, results, said, round(took, 1), ended, platform.node(), version("turnproof"))


def _run(
    arguments: Sequence[str], out: Path, deadline: float, say: Callable[[str], None], stopped: Callable[[], bool]
) -> tuple[int, str, str]:
    argv = [sys.executable, "-P", "-c", _PROGRAM, *arguments, "--out", str(out), "--json"]
    env = {**os.environ, "COLUMNS": "200", "NO_COLOR": "1"}
    allowed = deadline - time.monotonic()
    try:
        child = Supervised.start(argv, env=env, cwd=Path.cwd(), name="a cell", stdout=out / "summary.json")
    except StartFailed as error:
        raise HarnessError(f"a cell cannot be started: {error.reason}", "Mend the Python installation.") from error
    ended, shown = "", ""
    with child:
        while not ended:
            running = child.wait(_LOOK) is None
            last = child.output.text().rstrip().rpartition("\n")[2]
            if last != shown:
                shown = last
                say(last)
            if not running:
                break
            if stopped():
                ended = "the matrix was interrupted"
            elif time.monotonic() > deadline:
                ended = f"it was not done within {allowed:.0f} s"
        if ended:
            with suppress(ProcessLookupError):
                os.kill(child.pid, signal.SIGTERM)
            child.wait(_GRACE)
    code = child.poll()
    assert code is not None
    return _exit_code(code, ended), _end(child, code), ended


def _exit_code(code: int, ended: str) -> int:
    """That of a run which we ended is that of an interrupted one, however far it had come."""
    return UNFINISHED if ended else code if code >= 0 else HarnessError.exit_code


def _end(child: Supervised, code: int) -> str:
    lines = child.output.text().rstrip().splitlines()[-_LAST_LINES:]
    return "\n".join([*lines, *([f"turnproof run was killed by signal {-code}"] if code < 0 else [])])


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return b""
