"""Run a matrix: fetch the binaries, run the cells that are not there yet, and write what they say."""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path

from harness.errors import TurnproofError, UsageError
from harness.fetch import fetch
from harness.interrupts import Held
from harness.matrix.child import Returned
from harness.matrix.executor import Executor, Local, Watch
from harness.matrix.folder import keep, kept, prepare
from harness.matrix.outcome import outcome_in
from harness.matrix.plan import Matrix, Task
from harness.matrix.report import Report, report_in
from harness.reporting.matrix_json import json_matrix
from harness.reporting.matrix_markdown import matrix_markdown

MARKDOWN, JSON = "matrix.md", "matrix.json"


def run_matrix(matrix: Matrix, out: Path, executor: Executor, watch: Watch, *, resume: bool = False) -> Report:
    """Run every cell, or with `resume` those of which `out` holds no finished run; what all of them say.

    A cell that cannot be run is part of what is said. Raises UsageError when `out` cannot be written.
    """
    prepare(out)
    tasks = [task for task in matrix.tasks if not (resume and _is_done(out, task))]
    if isinstance(executor, Local):
        tasks = _fetched(tasks, out, watch)
    with closing(executor.run(tasks, matrix.within, watch)) as running:
        for task, came in running:
            returned = _of_this_version(came)
            with Held():
                keep(out, task, returned)
            watch.ended(task, returned)
    report = report_in(out, matrix)
    with Held():
        write_matrix(report, out)
    return report


def write_matrix(report: Report, out: Path) -> None:
    """Write `matrix.md` and `matrix.json` into `out`; raises UsageError when that cannot be done."""
    try:
        out.mkdir(parents=True, exist_ok=True)
        (out / MARKDOWN).write_text(matrix_markdown(report), encoding="utf-8")
        told = json.dumps(json_matrix(report), ensure_ascii=False, indent=2) + "\n"
        (out / JSON).write_text(told, encoding="utf-8")
    except OSError as error:
        raise UsageError(f"{out}: cannot be written: {error.strerror}", "choose another folder with --out") from error


def _of_this_version(returned: Returned) -> Returned:
    """What came back, without results that another version made: a node of a cluster may have any."""
    own = version("turnproof")
    if returned.turnproof in ("", own):
        return returned
    told = f"{returned.node} has turnproof {returned.turnproof}, and this is {own}"
    return replace(returned, exit_code=UsageError.exit_code, results=b"", said=told)


def _is_done(out: Path, task: Task) -> bool:
    """Whether a finished run of the cell by this version is there."""
    returned = kept(out, task)
    own = returned is not None and returned.turnproof == version("turnproof")
    return own and outcome_in(out, task).summary is not None


def _fetched(tasks: Sequence[Task], out: Path, watch: Watch) -> list[Task]:
    """The cells whose binary is there; what keeps the others from being run is put in their place."""
    ready = []
    for binary in dict.fromkeys(task.binary for task in tasks):
        own = [task for task in tasks if task.binary == binary]
        try:
            watch.fetching(f"fetching {binary}")
            fetch(binary, say=watch.fetching)
            ready += own
        except TurnproofError as error:
            told = f"{error.message}\n{error.hint}".strip()
            for task in own:
                returned = Returned(error.exit_code, b"", told, 0.0, turnproof=version("turnproof"))
                keep(out, task, returned)
                watch.ended(task, returned)
    return [task for task in tasks if task in ready]
