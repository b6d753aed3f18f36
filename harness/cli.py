"""The command line. It reads options, calls the library, and prints; it decides nothing."""

from __future__ import annotations

import contextlib
import functools
import json
import os
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from rich.console import Console
from rich.markup import escape

from harness.builtin import REFERENCE, find_judged, find_target
from harness.errors import TargetNotReady, TurnproofError, UsageError
from harness.evidence.refusal import Refused
from harness.interrupts import Held, terminable
from harness.opencode import REAL, STAND_IN
from harness.progress import Progress
from harness.reporting.visible import shortened, visible
from harness.requirements import suites
from harness.starter import kinds

if TYPE_CHECKING:
    from harness.results import Results
    from harness.verdict import Summary

_CONTEXT = {"help_option_names": ["-h", "--help"], "max_content_width": 100}
_ERR = Console(stderr=True, highlight=False)
_ATTACH = "What is behind a target given by URL: the control address that turnproof up printed."


def reporting_errors(command: Callable[..., int]) -> Callable[..., None]:
    """Turn a command's result or error into its exit code, and an error into words."""

    @functools.wraps(command)
    def wrapped(*args: Any, **kwargs: Any) -> None:
        try:
            with terminable():
                sys.exit(command(*args, **kwargs))
        except TurnproofError as error:
            show_error(error)
            sys.exit(error.exit_code)
        except KeyboardInterrupt:
            _ERR.print("[red]interrupted[/]")
            sys.exit(130)

    return wrapped


def show_error(error: TurnproofError) -> None:
    """Say whose fault an error is, what happened, and what to do next."""
    whose = {2: "usage", 3: "target not ready"}.get(error.exit_code, "turnproof failed")
    whose = f"refused, {error.reason}" if isinstance(error, Refused) else whose
    step = f" ({error.step})" if isinstance(error, TargetNotReady) else ""
    _ERR.print(f"[red]{whose}{escape(step)}:[/] {escape(visible(error.message))}", soft_wrap=True)
    if error.hint:
        _ERR.print(f"  {escape(error.hint)}", soft_wrap=True)
    if isinstance(error, TargetNotReady) and error.log.strip():
        _ERR.print("  the end of what it wrote:")
        for line in error.log.strip().splitlines()[-15:]:
            _ERR.print(f"  | {escape(shortened(visible(line), 500))}", soft_wrap=True)


@click.group(context_settings=_CONTEXT)
@click.version_option(package_name="turnproof", prog_name="turnproof")
def main() -> None:
    """Proves that an agent endpoint, or a Kilo agent, keeps its contract, really, end to end.

    \b
    Exit codes:
      0 conforms              1 a MUST fails            2 usage, or a bad target file
      3 target not ready      4 turnproof itself failed 5 a waiver is to be mended
      6 nothing was measured  130 interrupted
    """


@main.command()
@click.option("--target", "target", metavar="FILE|URL|NAME", help="What to judge (default: what the suite is for).")
@click.option("--suite", metavar="NAME", help=f"Which suite (default: the target's): {', '.join(suites())}.")
@click.option("-k", "expression", default="", metavar="EXPR", help="Only checks that match, as pytest's -k.")
@click.option("--strict", is_flag=True, help="SHOULD rows decide the exit code too.")
@click.option("--require-all", is_flag=True, help="What is not measured counts like a failure.")
@click.option("--out", default=Path("turnproof-report"), type=click.Path(path_type=Path), help="Folder for results.")
@click.option("-n", "workers", default=0, metavar="N", type=click.IntRange(0, 64), help="Parallel workers.")
@click.option("--opencode", "wanted", default=STAND_IN, metavar="stand-in|real|VERSION", help="The opencode behind it.")
@click.option("--attach", metavar="ADDRESS", help=_ATTACH)
@click.option("--shard", default="1/1", metavar="I/N", help="Only the I-th of N parts, for turnproof merge.")
@click.option("--json", "as_json", is_flag=True, help="Print a JSON summary instead of the table.")
@click.option("--write-waivers", "drafting", is_flag=True, help="Draft waivers of what fails in the target file.")
@click.option("--list", "listing", is_flag=True, help="List the checks and their requirements; run nothing.")
@reporting_errors
def run(
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
      TURNPROOF_API_KEY=... turnproof run --target http://127.0.0.1:9000 -k AUTH
      turnproof run --target running.toml --attach http://127.0.0.1:40123/0v8Kd...
      turnproof run --shard 2/5 --out shards/2
    """
    from harness import run as runs
    from harness.cell import Shard
    from harness.pytest_run import collect
    from harness.sharding import share_of
    from harness.waiver_draft import draft_into, file_of

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
    summary = _report(results, out, as_json)
    if waivers is not None:
        _ERR.print(escape(draft_into(waivers, summary)), soft_wrap=True)
    if error is not None:
        show_error(error)
    return summary.exit_code


@main.command()
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

    return _report(merge_results(find_results(shards, out), out), out, as_json).exit_code


@main.command()
@click.argument("results", type=click.Path(path_type=Path), metavar="RESULTS.JSONL")
@click.option("--out", type=click.Path(path_type=Path), help="Folder for the reports (default: that of the results).")
@click.option("--github", is_flag=True, help="For GitHub Actions: annotations, summary and outputs of the step.")
@reporting_errors
def report(results: Path, out: Path | None, github: bool) -> int:
    """Write the reports of a recorded run anew, whatever it came to.

    \b
    Examples:
      turnproof report turnproof-report/results.jsonl
      turnproof report --github turnproof-report/results.jsonl
    """
    import os

    from harness.reporting.files import write_reports
    from harness.reporting.github import tell
    from harness.results import read
    from harness.verdict import summarise

    summary, folder = summarise(read(results)), out or results.parent
    write_reports(summary, folder)
    if github:
        click.echo(tell(summary, folder, os.environ), nl=False)
    return 0


def _report(results: Results, out: Path, as_json: bool) -> Summary:
    """Write the reports of a run and show it."""
    from harness.reporting.files import NAMES, write_reports
    from harness.reporting.json_summary import json_summary
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
        _ERR.print(f"written to {out}: {', '.join((RESULTS, *NAMES))}", soft_wrap=True)
    return summary


@main.command()
@click.argument("kind", type=click.Choice(kinds()))
@click.argument("path", required=False, type=click.Path(path_type=Path), metavar="[FILE]")
@reporting_errors
def init(kind: str, path: Path | None) -> int:
    """Write a commented target file of a KIND, KIND.toml unless FILE is named, and its JSON schema beside it.

    \b
    Examples:
      turnproof init agent-endpoint
      turnproof init kilo-agent targets/my-agent.toml
    """
    from harness.starter import SCHEMA_NAME, begin

    file = path or Path(f"{kind}.toml")
    begin(kind, file)
    click.echo(str(file))
    _ERR.print(escape(f"{SCHEMA_NAME} beside it is for editors: they complete and check the file with it"))
    _ERR.print(escape(f"change it, then: turnproof doctor {file}"), soft_wrap=True)
    return 0


@main.command()
@reporting_errors
def schema() -> int:
    """Print the JSON schema of target files.

    \b
    Example:
      turnproof schema > turnproof.schema.json
    """
    from harness.target_schema import SCHEMA_FILE

    click.echo(SCHEMA_FILE.read_text(encoding="utf-8"), nl=False)
    return 0


@main.command()
@click.argument("target", default=REFERENCE, metavar="[FILE|URL]")
@click.option("--opencode", "wanted", default=STAND_IN, metavar="stand-in|real|VERSION", help="The opencode behind it.")
@click.option("--attach", metavar="ADDRESS", help=_ATTACH)
@reporting_errors
def doctor(target: str, wanted: str, attach: str | None) -> int:
    """Is the target sane, before any verdict? One nonce all the way round, and nothing left behind.

    \b
    Examples:
      turnproof doctor my-endpoint.toml
      turnproof doctor running.toml --attach http://127.0.0.1:40123/0v8Kd...
    """
    from harness.doctor import examine

    examine(find_target(target, wanted), lambda step, detail: click.echo(f"ok  {step}: {detail}"), wanted, attach)
    return 0


@main.command()
@click.argument("target", default=REFERENCE, metavar="[FILE]")
@click.option("--opencode", "wanted", default=STAND_IN, metavar="stand-in|real|VERSION", help="The opencode behind it.")
@click.option("--stack", "alone", is_flag=True, help="Only what is behind the target; you start the target yourself.")
@reporting_errors
def up(target: str, wanted: str, alone: bool) -> int:
    """Hold a target with everything behind it until Ctrl-C; print addresses, a working key and a curl line.

    With --stack, or a target given by URL, hold what is behind it: opencode, the model server and the taps. Let an
    endpoint that you start yourself use them, and judge it with the command that is printed: run --attach.

    \b
    Examples:
      turnproof up my-endpoint.toml --opencode real
      turnproof up --stack my-endpoint.toml
    """
    from harness.up import holding

    def say(step: str, detail: str) -> None:
        _ERR.print(f"[dim]{escape(step)}: {escape(detail)}[/]", soft_wrap=True)

    with holding(find_target(target, wanted), wanted, alone, say) as text:
        click.echo(text)
        _ERR.print("[dim]Ctrl-C ends it all[/]")
        with contextlib.suppress(KeyboardInterrupt):
            threading.Event().wait()
    return 0


@main.command()
@click.argument("name", required=False, metavar="[PAGE]")
@reporting_errors
def docs(name: str | None) -> int:
    """Read a page of the documentation that comes with this version; without its name, list them.

    \b
    Examples:
      turnproof docs
      turnproof docs targets
    """
    from rich.markdown import Markdown

    from harness import manual

    if name is None:
        for known, path in manual.pages().items():
            click.echo(f"{known:20} {manual.title(path)}")
        click.echo(f"\nthe files, with those of the examples: {manual.DOCS.resolve()}")
        return 0
    text = manual.page(name).read_text(encoding="utf-8")
    if sys.stdout.isatty():
        Console().print(Markdown(text))
    else:
        click.echo(text, nl=False)
    return 0


@main.command()
@click.argument("spec", metavar="NAME@VERSION")
@reporting_errors
def fetch(spec: str) -> int:
    """Fetch a real binary by exact version into the cache, and print its path.

    \b
    Example:
      turnproof fetch opencode@1.18.33
    """
    from harness.fetch import fetch as fetch_binary

    with _ERR.status(escape(f"fetching {spec}")) as status:
        path = fetch_binary(spec, say=lambda text: status.update(escape(text)))
    click.echo(str(path))
    return 0


@main.command()
@click.argument("names", nargs=-1, metavar="[NAME]...")
@click.option("--suite", metavar="NAME", help="Only those that this suite must catch; if left out, all.")
@click.option("--own", is_flag=True, help="Only the checks of the requirements that each mutant names.")
@click.option("-n", "jobs", type=click.IntRange(1, 64), default=1, metavar="N", help="So many at a time.")
@click.option("--list", "listing", is_flag=True, help="List the mutants; run nothing.")
@reporting_errors
def mutants(names: tuple[str, ...], suite: str | None, own: bool, jobs: int, listing: bool) -> int:
    """Are the checks worth anything? Judge broken implementations; exit 1 unless each is caught as it should be.

    \b
    Examples:
      turnproof mutants --list
      turnproof mutants no_done stream_truthy
      turnproof mutants --suite kilo_agent --own -n 4
    """
    from harness.mutation import catches, chosen

    wanted = chosen(names, suite)
    if listing:
        for _, mutant in wanted:
            click.echo(f"{mutant.name:28} {mutant.does} (caught by {', '.join(sorted(mutant.caught_by))})")
        return 0
    flawed = 0
    with _ERR.status(f"judging {len(wanted)} mutants") as status:
        for count, caught in enumerate(catches(wanted, own, jobs), 1):
            wrong = [f"missed by {id_}" for id_ in sorted(caught.missed)]
            wrong += [f"also caught by {id_}" for id_ in sorted(caught.needless)]
            flawed += bool(wrong)
            named = ", ".join(sorted(caught.mutant.caught_by))
            click.echo(
                f"{'no' if wrong else 'ok':3} {caught.mutant.name:28} {'; '.join(wrong) or f'caught by {named}'}"
            )
            status.update(f"judged {count} of {len(wanted)} mutants")
    _ERR.print(f"{len(wanted) - flawed} of {len(wanted)} mutants are caught as they should be")
    return 1 if flawed else 0


@main.command()
@click.argument("spec", metavar="NAME@VERSION")
@click.option("--out", default=Path("recordings"), type=click.Path(path_type=Path), help="Folder for the recordings.")
@reporting_errors
def record(spec: str, out: Path) -> int:
    """Drive a real opencode or kilo through every recorded scenario, and write down what it does.

    Of kilo it also says where it differs from the newest version that turnproof knows.

    \b
    Examples:
      turnproof record opencode@1.18.33 --out fixtures/recordings
      turnproof record kilo@7.7.9 --out fixtures/recordings
    """
    from harness.launch import real_opencode
    from harness.record.kilo import record_version
    from harness.record.record import record as scenes
    from harness.record.recording import write

    name, _, version = spec.partition("@")
    if name not in ("opencode", "kilo") or not version:
        raise UsageError(f"{spec!r} cannot be recorded", "name opencode or kilo and a version: opencode@1.18.33")
    if name == "kilo":
        for line in record_version(version, out, _ERR.print):
            click.echo(line)
        return 0
    part = real_opencode(version, lambda step, detail: _ERR.print(f"{step}: {detail}"))
    for scenario, kept in scenes(part):
        write(out / f"opencode-{version}", scenario, kept)
        click.echo(scenario)
    return 0


@main.command()
@click.argument("target", default=REFERENCE, metavar="[FILE|URL|NAME]")
@click.option("--out", default=Path("turnproof-live"), type=click.Path(path_type=Path), help="Folder for the evidence.")
@click.option("--direct", is_flag=True, help="Without a LiteLLM proxy in the chain.")
@click.option("--opencode", "opencode", default=REAL, metavar="real|VERSION|stand-in", help="The opencode behind it.")
@click.option("--kilo", default=REAL, metavar="real|VERSION|stand-in", help="The Kilo CLI behind an agent.")
@click.option("--model-url", metavar="URL", help="A real provider at the far end (…/v1). Less is proved then.")
@click.option("--model-key-env", metavar="NAME", help="The environment variable that holds the provider's key.")
@click.option("--model", metavar="NAME", help="The provider's model, where it lacks the agents' own (with the proxy).")
@click.option("--attach", metavar="ADDRESS", help=_ATTACH)
@click.option("--sign", type=click.Path(path_type=Path), metavar="KEY", help="Sign with an Ed25519 key in PEM.")
@click.option("--commit", metavar="SHA", help="The commit of a target given by URL, which turnproof cannot see.")
@click.option("--json", "as_json", is_flag=True, help="Print a JSON summary instead of the table.")
@reporting_errors
def live(target: str, out: Path, as_json: bool, **options: Any) -> int:
    """Make a real round trip through the whole chain, and write evidence of it: evidence.md and evidence.json.

    A word is planted at each end, and must come out at the other: client, endpoint, the real opencode, a LiteLLM proxy,
    model server. A Kilo agent has the real kilo behind it.

    \b
    Examples:
      turnproof live my-endpoint.toml --out evidence
      turnproof live my-endpoint.toml --direct --sign key.pem
      turnproof live my-kilo-agent.toml --kilo 7.7.9
      turnproof live my-endpoint.toml --model-url https://api.example.com/v1 --model-key-env API_KEY --model large-1
    """
    from harness.evidence.live import make, trip_of
    from harness.reporting.json_summary import json_summary
    from harness.reporting.table import render

    trip = trip_of(find_target(target, options["opencode"]), out, os.environ, **options)
    with Progress(Console(file=sys.stderr, highlight=False)) as progress:
        summary, error = make(trip, progress.observer)
    if as_json:
        click.echo(json.dumps(json_summary(summary), ensure_ascii=False, indent=2))
    else:
        render(summary, Console())
    if error is not None:
        show_error(error)
    if summary.results.finished:
        _ERR.print(f"written to {out}: evidence.md to paste, evidence.json beside it", soft_wrap=True)
    return summary.exit_code


@main.command()
@click.argument("file", default="-", metavar="[FILE]")
@click.option("--bundle", type=click.Path(path_type=Path), metavar="FILE", help="The evidence.json of a Markdown FILE.")
@click.option("--max-age", metavar="AGE", help="Refuse older evidence: 90m, 24h, 7d.")
@click.option("--commit", metavar="SHA", help="Refuse evidence of another commit of the target.")
@click.option("--key", type=click.Path(path_type=Path), metavar="PUBLIC", help="Refuse what this key did not sign.")
@click.option("--json", "as_json", is_flag=True, help="Print a JSON object.")
@reporting_errors
def verify(file: str, bundle: Path | None, as_json: bool, **demands: Any) -> int:
    """Is evidence whole, fresh and of this commit, and do its verdicts follow from its exchanges?

    FILE is evidence.md, evidence.json, its envelope, a results file, or any text that evidence was pasted into; without
    FILE the text is read from standard input. Verdicts are made again where the exchanges are there, without a target.

    \b
    Exit codes:
      0 accepted, and it conforms   1 accepted, and it does not   10 unsealed   11 cut     12 edited
      13 incomplete                 14 stale                      15 wrong commit
      16 wrongly signed             17 not confirmed by replay

    \b
    Examples:
      turnproof verify turnproof-live/evidence.json --max-age 7d --commit "$(git rev-parse HEAD)"
      gh pr view 12 --json body --jq .body | turnproof verify --key key.pub
      turnproof verify turnproof-report/results.jsonl
    """
    from harness.evidence.report import lines_of, told
    from harness.evidence.verify_file import is_results, replay_lines, verify_file

    if is_results(file):
        code, lines = replay_lines(Path(file), bundle, **demands)
        click.echo("\n".join(lines))
        return code
    verified = verify_file(file, sys.stdin, bundle, **demands)
    click.echo(json.dumps(told(verified), indent=2) if as_json else "\n".join(lines_of(verified)))
    return int(any(one.claims.exit_code for one in verified))


@main.command()
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


@main.command()
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
        _ERR.print(f"written to {out}: matrix.md, matrix.json, cells", soft_wrap=True)
    return report.exit_code
