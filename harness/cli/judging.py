"""Commands that judge a target, and those that put together and report what came of it."""

from __future__ import annotations

import json
import os
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click
from rich.console import Console
from rich.markup import escape

from harness.builtin import find_judged
from harness.cli.ending import ERR, reporting_errors, show_error
from harness.cli.options import attached_to, opencode_behind
from harness.errors import UsageError
from harness.interrupts import Held
from harness.progress import Progress
from harness.requirements import suites

if TYPE_CHECKING:
    from harness.results import Results
    from harness.verdict import Summary


@click.command(short_help="Judge a target; write results and reports.")
@click.argument("strays", nargs=-1, metavar="")
@click.option("--target", "target", metavar="FILE|URL|NAME", help="What to judge (default: what the suite is for).")
@click.option("--suite", metavar="NAME", help=f"Which suite (default: the target's): {', '.join(suites())}.")
@click.option("-k", "expression", default="", metavar="EXPR", help="Only checks that match: names, ids.")
@click.option("--strict", is_flag=True, help="SHOULD rows decide the exit code too.")
@click.option("--require-all", is_flag=True, help="What is not measured counts like a failure.")
@click.option("--out", default=Path("turnproof-report"), type=click.Path(path_type=Path), help="Folder for results.")
@click.option("-n", "workers", default=0, metavar="N", type=click.IntRange(0, 64), help="Parallel workers.")
@opencode_behind
@attached_to
@click.option("--shard", default="1/1", metavar="I/N", help="Only the I-th of N parts, for turnproof merge.")
@click.option("--json", "as_json", is_flag=True, help="Print a JSON summary instead of the table.")
@click.option("--write-waivers", "drafting", is_flag=True, help="Draft waivers of what fails in the target file.")
@click.option("--list", "listing", is_flag=True, help="List the checks and their requirements; run nothing.")
@reporting_errors
def run(
    strays: tuple[str, ...],
    target: str | None,
    suite: str | None,
    expression: str,
    strict: bool,
    require_all: bool,
    out: Path,
    workers: int,
    wanted: str,
    attach: str | None,
    shard: str,
    as_json: bool,
    drafting: bool,
    listing: bool,
) -> int:
    """Judge a target and write results.jsonl, with reports: report.html, summary.md, junit.xml, ctrf.json and a badge.

    \b
    Examples:
      turnproof run
      turnproof run --target my-endpoint.toml --strict
      turnproof run --target my-endpoint.toml --write-waivers
      turnproof run --suite opencode_server --target opencode@1.18.33
      turnproof run -k "AE-AUTH-1 or stream and not usage"
      TURNPROOF_API_KEY=... turnproof run --target http://127.0.0.1:9000 -k AUTH
      turnproof run --target running.toml --attach http://127.0.0.1:40123/0v8Kd...
      turnproof run --shard 2/5 --out shards/2
    """
    from harness import run as runs
    from harness.cell import Shard
    from harness.pytest_run import collect
    from harness.sharding import share_of
    from harness.waiver_draft import draft_into, file_of

    if strays:
        hint = f"name the target by its option: turnproof run --target {shlex.quote(strays[0])}"
        raise UsageError(f"run takes no argument, but came with {strays[0]!r}", hint)
    judged, suite = find_judged(target, suite, wanted)
    part = Shard.parse(shard)
    if listing:
        for planned in share_of(collect(suite, expression), part):
            click.echo(f"{', '.join(planned.requirements):14} {planned.title}")
        return 0
    order = runs.Order(
        judged,
        suite,
        expression,
        strict,
        require_all,
        out,
        workers,
        wanted,
        attach=attach,
        shard=part,
    )
    waivers = file_of(order.target, target) if drafting else None
    with Progress(Console(file=sys.stderr, highlight=False)) as progress:
        results, error = runs.run(order, progress.observer)
    summary = _shown(results, out, as_json)
    if waivers is not None:
        ERR.print(escape(draft_into(waivers, summary)), soft_wrap=True)
    if error is not None:
        show_error(error)
    return summary.exit_code


@click.command(short_help="Merge the results of all shards of a run.")
@click.argument("shards", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="DIR|FILE...")
@click.option("--out", default=Path("turnproof-report"), type=click.Path(path_type=Path), help="Folder for results.")
@click.option("--json", "as_json", is_flag=True, help="Print a JSON summary instead of the table.")
@reporting_errors
def merge(shards: tuple[Path, ...], out: Path, as_json: bool) -> int:
    """Merge the results of all shards of a run into one, with its reports and its exit code.

    Refuses incomplete, doubled and mixed results, and names the shard that is missing.

    \b
    Example:
      turnproof run --shard 1/2 --out shards/1; turnproof run --shard 2/2 --out shards/2
      turnproof merge shards --out turnproof-report
    """
    from harness.merge import find_results
    from harness.merge import merge as merge_results

    return _shown(merge_results(find_results(shards, out), out), out, as_json).exit_code


@click.command(short_help="Write the reports of a recorded run anew.")
@click.argument("results", type=click.Path(path_type=Path), metavar="DIR|FILE")
@click.option("--out", type=click.Path(path_type=Path), help="Folder for the reports (default: that of the results).")
@click.option("--github", is_flag=True, help="For GitHub Actions: annotations, summary and outputs of the step.")
@reporting_errors
def report(results: Path, out: Path | None, github: bool) -> int:
    """Write the reports of a recorded run anew, whatever it came to; a folder stands for the results.jsonl in it.

    \b
    Examples:
      turnproof report turnproof-report
      turnproof report --github turnproof-report/results.jsonl
    """
    from harness.diff import run_in
    from harness.reporting.files import write_reports
    from harness.reporting.github import tell
    from harness.reporting.names import NAMES

    summary, folder = run_in(results), out or (results if results.is_dir() else results.parent)
    write_reports(summary, folder)
    ERR.print(f"written to {folder}: {', '.join(NAMES)}", soft_wrap=True)
    if github:
        click.echo(tell(summary, folder, os.environ), nl=False)
    return 0


def _shown(results: Results, out: Path, as_json: bool) -> Summary:
    """Write the reports of a run and show it."""
    from harness.reporting.files import write_reports
    from harness.reporting.json_summary import json_summary
    from harness.reporting.names import NAMES
    from harness.reporting.table import render
    from harness.results import RESULTS
    from harness.verdict import summarise

    summary = summarise(results)
    with Held():
        write_reports(summary, out)
    if as_json:
        click.echo(json.dumps(json_summary(summary), ensure_ascii=False, indent=2))
    else:
        render(summary, Console())
        ERR.print(f"written to {out}: {', '.join((RESULTS, *NAMES))}", soft_wrap=True)
    return summary
