"""Commands that compare: one run with another, one version with another."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import click
from rich.console import Console

from harness.cli.ending import ERR, reporting_errors


@click.command(short_help="What changed from one run to another?")
@click.argument("old", type=click.Path(path_type=Path), metavar="OLD")
@click.argument("new", type=click.Path(path_type=Path), metavar="NEW")
@click.option("--json", "form", flag_value="json", help="Print a JSON object instead of the table.")
@click.option("--markdown", "form", flag_value="markdown", help="Print Markdown, for a pull request.")
@reporting_errors
def diff(old: Path, new: Path, form: str | None) -> int:
    """What changed from one run to another, by requirement? Exit 1 where a MUST that was kept is broken.

    OLD and NEW are results files, or the folders that hold them. A SHOULD counts when NEW was run with --strict, what
    is no longer measured when it was run with --require-all.

    \b
    Examples:
      turnproof diff baseline/results.jsonl turnproof-report
      turnproof diff baseline turnproof-report --markdown > comment.md
    """
    from harness.diff import compare, run_in
    from harness.reporting.diff_json import json_diff
    from harness.reporting.diff_markdown import diff_markdown
    from harness.reporting.diff_table import render_diff

    found = compare(run_in(old), run_in(new))
    if form == "json":
        click.echo(json.dumps(json_diff(found), ensure_ascii=False, indent=2))
    elif form == "markdown":
        click.echo(diff_markdown(found), nl=False)
    else:
        render_diff(found, Console())
    return found.exit_code


@click.command(short_help="Judge several versions of opencode or kilo.")
@click.argument("file", type=click.Path(path_type=Path), metavar="FILE")
@click.option("--out", default=Path("turnproof-matrix"), type=click.Path(path_type=Path), help="Folder for results.")
@click.option("--resume", is_flag=True, help="Keep the cells of which --out holds a finished run.")
@click.option("--executor", type=click.Choice(["local", "ray"]), default="local", help="Who runs the cells.")
@click.option("--jobs", type=click.IntRange(1, 64), metavar="N", help="How many cells at once on this machine (1).")
@click.option("--address", metavar="HOST:PORT", help="The Ray cluster that runs the cells.")
@click.option("--json", "as_json", is_flag=True, help="Print a JSON object instead of the tables.")
@reporting_errors
def matrix(
    file: Path, out: Path, resume: bool, executor: str, jobs: int | None, address: str | None, as_json: bool
) -> int:
    """Judge several versions of a real opencode or kilo: what holds where, and what changed between which versions.

    FILE names versions and suites. Each version is fetched, and judged by a run of its own; --out gets its results,
    and matrix.md and matrix.json. The exit code is the worst of all cells.

    \b
    Examples:
      turnproof matrix releases.toml
      turnproof matrix releases.toml --resume --jobs 2
      turnproof matrix releases.toml --executor ray --address 10.0.0.5:6379
    """
    from harness.matrix.executor import executor_named
    from harness.matrix.file import load_matrix
    from harness.matrix.progress import MatrixProgress
    from harness.matrix.run import run_matrix
    from harness.reporting.matrix_json import json_matrix
    from harness.reporting.matrix_table import render_matrix

    wanted, runs = load_matrix(file), executor_named(executor, jobs, address)
    with MatrixProgress(Console(file=sys.stderr, highlight=False)) as progress:
        report = run_matrix(wanted, out, runs, progress.watch, resume=resume)
    if as_json:
        click.echo(json.dumps(json_matrix(report), ensure_ascii=False, indent=2))
    else:
        render_matrix(report, Console())
        ERR.print(f"written to {out}: matrix.md, matrix.json, cells", soft_wrap=True)
    return report.exit_code
