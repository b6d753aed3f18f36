"""How an agent that wraps the Kilo CLI is started: as a server of its own, or as a command behind one of ours."""

from __future__ import annotations

import json
import os
import secrets
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from harness import kilo_command
from harness.errors import TargetNotReady
from harness.supervised import StartFailed, Supervised
from harness.target import Ready, Start, Target
from harness.template import expand

_COMMAND_READY = Ready(path="/health", within=30.0)


def launch(target: Target, values: Mapping[str, str], environment: Mapping[str, str]) -> Supervised:
    """The process of the agent, or of the server in front of it; raises TargetNotReady when it cannot be started.

    `values` are those of placeholders, among them `port`, on which it listens.
    """
    start = target.start or Start((), {})
    word = secrets.token_hex(8)
    filled = {**values, "prompt": word}
    command = [expand(part, filled, os.environ, f"start.command[{i}]") for i, part in enumerate(start.command)]
    env = {name: expand(value, values, os.environ, f"start.env.{name}") for name, value in start.env.items()}
    cwd = target.folder / expand(start.cwd, values, os.environ, "start.cwd")
    server = [] if target.asked == "responses" else [*_OURS, values["port"], word]
    try:
        return Supervised.start([*server, *command], env={**environment, **env}, cwd=cwd, name=target.name)
    except StartFailed as error:
        message = f"{command[0]} in {cwd}: {error.reason}"
        raise TargetNotReady("it starts", message, "check start.command and start.cwd") from error


_OURS = (sys.executable, "-I", "-S", str(Path(kilo_command.__file__).resolve()))


def readiness(target: Target) -> Ready:
    """How the process that `launch` starts is seen to be up."""
    return target.ready if target.asked == "responses" else _COMMAND_READY


def as_variables(configuration: Mapping[str, Any]) -> dict[str, str]:
    """A configuration as environment variables, named by its keys: texts as they are, everything else as JSON."""
    return {
        f"{kilo_command.CONFIGURATION}{name.upper()}": value if isinstance(value, str) else json.dumps(value)
        for name, value in configuration.items()
    }
