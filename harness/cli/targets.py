"""Commands about a target before it is judged: its file, its sanity, and all of it held up."""

from __future__ import annotations

import contextlib
import threading
from pathlib import Path

import click
from rich.markup import escape

from harness.builtin import REFERENCE, find_target
from harness.cli.ending import ERR, reporting_errors
from harness.cli.options import attached_to, opencode_behind
from harness.starter import kinds


@click.command(short_help="Write a commented target file of a kind.")
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
    ERR.print(escape(f"{SCHEMA_NAME} beside it is for editors: they complete and check the file with it"))
    ERR.print(escape(f"change it, then: turnproof doctor {file}"), soft_wrap=True)
    return 0


@click.command(short_help="Print the JSON schema of target files.")
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


@click.command(short_help="Is a target sane, before any verdict?")
@click.argument("target", default=REFERENCE, metavar="[FILE|URL]")
@opencode_behind
@attached_to
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


@click.command(short_help="Hold a target and all behind it until Ctrl-C.")
@click.argument("target", default=REFERENCE, metavar="[FILE]")
@opencode_behind
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
        ERR.print(f"[dim]{escape(step)}: {escape(detail)}[/]", soft_wrap=True)

    with holding(find_target(target, wanted), wanted, alone, say) as text:
        click.echo(text)
        ERR.print("[dim]Ctrl-C ends it all[/]")
        with contextlib.suppress(KeyboardInterrupt):
            threading.Event().wait()
    return 0
