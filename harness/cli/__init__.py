"""The command line. It reads options, calls the library, and prints; it decides nothing."""

from __future__ import annotations

import click

from harness.cli import comparing, evidence, judging, material, targets

_SECTIONS: dict[str, tuple[click.Command, ...]] = {
    "A target": (targets.init, targets.doctor, targets.up, targets.schema),
    "Verdicts": (judging.run, judging.merge, judging.report, comparing.diff, comparing.matrix),
    "Evidence": (evidence.live, evidence.verify),
    "What turnproof stands on": (material.docs, material.fetch, material.record, material.mutants),
}


class _Sectioned(click.Group):
    """A group whose help lists its commands by section."""

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Part of click."""
        for title, commands in _SECTIONS.items():
            with formatter.section(title):
                formatter.write_dl([(str(one.name), str(one.short_help)) for one in commands])


@click.group(cls=_Sectioned, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(package_name="turnproof", prog_name="turnproof")
def main() -> None:
    """Proves that an agent endpoint, or a Kilo agent, keeps its contract, really, end to end.

    \b
    Exit codes:
      0 conforms              1 a MUST fails            2 usage, or a bad target file
      3 target not ready      4 turnproof itself failed 5 a waiver is to be mended
      6 nothing was measured  130 interrupted
    """


for _commands in _SECTIONS.values():
    for _command in _commands:
        main.add_command(_command)
