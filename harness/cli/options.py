"""Options that several commands have."""

from __future__ import annotations

import click

from harness.opencode import STAND_IN

opencode_behind = click.option(
    "--opencode",
    "wanted",
    default=STAND_IN,
    metavar="stand-in|real|VERSION",
    help="The opencode behind it.",
)
attached_to = click.option(
    "--attach",
    metavar="ADDRESS",
    help="What is behind a target given by URL: the control address that turnproof up printed.",
)
