"""`python -m harness.reporting.samples`: makes the samples in `reports/sample` anew, from the results beside them."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Mapping
from pathlib import Path

from rich.console import Console

from harness.diff import compare, run_in
from harness.matrix.file import load_matrix
from harness.matrix.report import report_in
from harness.matrix.run import JSON, MARKDOWN
from harness.reporting.diff_json import json_diff
from harness.reporting.diff_markdown import diff_markdown
from harness.reporting.diff_table import render_diff
from harness.reporting.files import reports
from harness.reporting.json_summary import json_summary
from harness.reporting.matrix_json import json_matrix
from harness.reporting.matrix_markdown import matrix_markdown
from harness.reporting.matrix_table import render_matrix
from harness.reporting.table import render

FOLDER = Path(__file__).parents[1] / "reports" / "sample"
RUN, BEFORE, DIFF, MATRIX = "run", "diff/before", "diff", "matrix"
"""Where in it the run is, the run before it, what changed between them, and the matrix."""

_WIDTH = 100


def samples(folder: Path = FOLDER) -> Mapping[str, str]:
    """The text of every sample that is made from results, by its path in `folder`."""
    return {**_run(folder), **_diff(folder), **_matrix(folder)}


def _run(folder: Path) -> dict[str, str]:
    summary = run_in(folder / RUN)
    texts = {
        **reports(summary),
        "summary.json": _json(json_summary(summary)),
        "terminal.txt": _terminal(lambda console: render(summary, console)),
    }
    return {f"{RUN}/{name}": text for name, text in texts.items()}


def _diff(folder: Path) -> dict[str, str]:
    diff = compare(run_in(folder / BEFORE), run_in(folder / RUN))
    return {
        f"{DIFF}/diff.md": diff_markdown(diff),
        f"{DIFF}/diff.json": _json(json_diff(diff)),
        f"{DIFF}/terminal.txt": _terminal(lambda console: render_diff(diff, console)),
    }


def _matrix(folder: Path) -> dict[str, str]:
    report = report_in(folder / MATRIX, load_matrix(folder / MATRIX / "matrix.toml"))
    return {
        f"{MATRIX}/{MARKDOWN}": matrix_markdown(report),
        f"{MATRIX}/{JSON}": _json(json_matrix(report)),
        f"{MATRIX}/terminal.txt": _terminal(lambda console: render_matrix(report, console)),
    }


def _terminal(show: Callable[[Console], None]) -> str:
    stream = io.StringIO()
    show(Console(file=stream, width=_WIDTH, color_system=None, _environ={}))
    return "\n".join(line.rstrip() for line in stream.getvalue().split("\n"))


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2) + "\n"


if __name__ == "__main__":
    for name, text in samples().items():
        (FOLDER / name).write_text(text, encoding="utf-8")
