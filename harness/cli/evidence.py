"""Commands that make evidence of a live round trip, and check it."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import click
from rich.console import Console

from harness.builtin import REFERENCE, find_target
from harness.cli.ending import ERR, reporting_errors, show_error
from harness.cli.options import attached_to
from harness.opencode import REAL
from harness.progress import Progress


@click.command(short_help="Make a live round trip, and evidence of it.")
@click.argument("target", default=REFERENCE, metavar="[FILE|URL|NAME]")
@click.option("--out", default=Path("turnproof-live"), type=click.Path(path_type=Path), help="Folder for the evidence.")
@click.option("--direct", is_flag=True, help="Without a LiteLLM proxy in the chain.")
@click.option("--opencode", metavar="real|VERSION|stand-in", help="The opencode behind an endpoint (real).")
@click.option("--kilo", metavar="real|VERSION|stand-in", help="The Kilo CLI behind an agent (real).")
@click.option("--model-url", metavar="URL", help="A real provider at the far end (…/v1). Less is proved then.")
@click.option("--model-key-env", metavar="NAME", help="The environment variable that holds the provider's key.")
@click.option("--model", metavar="NAME", help="The provider's model, where it lacks the agents' own (with the proxy).")
@attached_to
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

    trip = trip_of(find_target(target, options["opencode"] or REAL), out, os.environ, **options)
    with Progress(Console(file=sys.stderr, highlight=False)) as progress:
        summary, error = make(trip, progress.observer)
    if as_json:
        click.echo(json.dumps(json_summary(summary), ensure_ascii=False, indent=2))
    else:
        render(summary, Console())
    if error is not None:
        show_error(error)
    if summary.results.finished:
        ERR.print(f"written to {out}: evidence.md to paste, evidence.json beside it", soft_wrap=True)
    return summary.exit_code


@click.command(short_help="Is evidence whole, fresh, and confirmed?")
@click.argument("file", default="-", metavar="[FILE]")
@click.option("--bundle", type=click.Path(path_type=Path), metavar="FILE", help="The evidence.json of a Markdown FILE.")
@click.option("--max-age", metavar="AGE", help="Refuse older evidence: 90m, 24h, 7d.")
@click.option("--commit", metavar="SHA", help="Refuse evidence of another commit of the target.")
@click.option("--key", type=click.Path(path_type=Path), metavar="PUBLIC", help="Refuse what this key did not sign.")
@click.option("--json", "as_json", is_flag=True, help="Print a JSON object.")
@reporting_errors
def verify(file: str, bundle: Path | None, as_json: bool, **demands: Any) -> int:
    """Is evidence whole, fresh and of this commit, and do its verdicts follow from its exchanges?

    FILE is evidence.md, evidence.json, its envelope, a results file or its folder, or any text that evidence was pasted
    into; without FILE the text is read from standard input. Verdicts are made again where the exchanges are there,
    without a target.

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
    from harness.evidence.refusal import EXIT_CODES
    from harness.evidence.report import lines_of, lines_of_replay, told, told_of_replay
    from harness.evidence.verify_file import is_results, replay_file, verify_file

    if is_results(file):
        found = replay_file(Path(file), bundle, **demands)
        click.echo(json.dumps(told_of_replay(*found), indent=2) if as_json else "\n".join(lines_of_replay(*found)))
        recorded, checks = found
        confirmed = all(check.agrees for check in checks)
        return int(recorded.exit_code != 0) if confirmed else EXIT_CODES["not confirmed by replay"]
    verified = verify_file(file, sys.stdin, bundle, **demands)
    click.echo(json.dumps(told(verified), indent=2) if as_json else "\n".join(lines_of(verified)))
    return int(any(one.claims.exit_code for one in verified))
