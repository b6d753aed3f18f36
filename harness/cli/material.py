"""Commands about what turnproof itself stands on: its pages, the binaries, their recordings, its mutants."""

from __future__ import annotations

import sys
from pathlib import Path

import click
from rich.console import Console
from rich.markup import escape

from harness.cli.ending import ERR, reporting_errors
from harness.errors import UsageError


@click.command(short_help="Read a page of the documentation.")
@click.argument("name", required=False, metavar="[PAGE|ID]")
@reporting_errors
def docs(name: str | None) -> int:
    """Read a page of the documentation of this version, or what it says of a requirement; without a name, list them.

    \b
    Examples:
      turnproof docs
      turnproof docs targets
      turnproof docs AE-FAULT-3
    """
    from rich.markdown import Markdown

    from harness import manual

    if name is None:
        for known, path in manual.pages().items():
            click.echo(f"{known:20} {manual.title(path)}")
        click.echo(f"\nthe files, with those of the examples: {manual.DOCS.resolve()}")
        return 0
    text = manual.text(name)
    if sys.stdout.isatty():
        Console().print(Markdown(text))
    else:
        click.echo(text, nl=False)
    return 0


@click.command(short_help="Fetch a real binary by exact version.")
@click.argument("spec", metavar="NAME@VERSION")
@reporting_errors
def fetch(spec: str) -> int:
    """Fetch a real binary by exact version into the cache, and print its path.

    \b
    Example:
      turnproof fetch opencode@1.18.33
    """
    from harness.fetch import fetch as fetch_binary

    with ERR.status(escape(f"fetching {spec}")) as status:
        path = fetch_binary(spec, say=lambda text: status.update(escape(text)))
    click.echo(str(path))
    return 0


@click.command(short_help="Record what a real binary does.")
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
    from harness.parts import real_opencode
    from harness.record.kilo import record_version
    from harness.record.record import record as scenes
    from harness.record.recording import write

    name, _, version = spec.partition("@")
    if name not in ("opencode", "kilo") or not version:
        raise UsageError(f"{spec!r} cannot be recorded", "name opencode or kilo and a version: opencode@1.18.33")
    if name == "kilo":
        for line in record_version(version, out, ERR.print):
            click.echo(line)
        return 0
    part = real_opencode(version, lambda step, detail: ERR.print(f"{step}: {detail}"))
    for scenario, kept in scenes(part):
        write(out / f"opencode-{version}", scenario, kept)
        click.echo(scenario)
    return 0


@click.command(short_help="Are the checks worth anything?")
@click.argument("names", nargs=-1, metavar="[NAME]...")
@click.option("--suite", metavar="NAME", help="Only those that this suite must catch; if left out, all.")
@click.option("--own", is_flag=True, help="Only the checks of the requirements that each mutant names.")
@click.option("-n", "jobs", type=click.IntRange(1, 64), default=1, metavar="N", help="So many at a time.")
@click.option("--list", "listing", is_flag=True, help="List the mutants; run nothing.")
@reporting_errors
def mutants(names: tuple[str, ...], suite: str | None, own: bool, jobs: int, listing: bool) -> int:
    """Are the checks worth anything? Judge broken implementations; exit 1 unless each is caught as it should be.

    Without a NAME, each check that was made must fail on one of them at least.

    \b
    Examples:
      turnproof mutants --list
      turnproof mutants no_done stream_truthy
      turnproof mutants --suite kilo_agent --own -n 4
    """
    from harness.mutation import Catch, catches, chosen, idle

    wanted = chosen(names, suite)
    if listing:
        for _, mutant in wanted:
            click.echo(f"{mutant.name:28} {mutant.does} (caught by {', '.join(sorted(mutant.caught_by))})")
        return 0
    flawed, by_suite = 0, dict[str, list[Catch]]()
    with ERR.status(f"judging {len(wanted)} mutants") as status:
        for count, ((family, _), caught) in enumerate(zip(wanted, catches(wanted, own, jobs), strict=True), 1):
            by_suite.setdefault(family.suite, []).append(caught)
            wrong = [f"missed by {id_}" for id_ in sorted(caught.missed)]
            wrong += [f"also caught by {id_}" for id_ in sorted(caught.needless)]
            flawed += bool(wrong)
            named = ", ".join(sorted(caught.mutant.caught_by))
            click.echo(
                f"{'no' if wrong else 'ok':3} {caught.mutant.name:28} {'; '.join(wrong) or f'caught by {named}'}"
            )
            status.update(f"judged {count} of {len(wanted)} mutants")
    ERR.print(f"{len(wanted) - flawed} of {len(wanted)} mutants are caught as they should be")
    unproven = [check for caught in by_suite.values() for check in sorted(idle(caught))] if not names else []
    for check in unproven:
        click.echo(f"no  {check} passes on every mutant")
    if unproven:
        ERR.print(f"{len(unproven)} checks pass on every mutant: add one that they catch")
    return 1 if flawed or unproven else 0
