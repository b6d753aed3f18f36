"""The Kilo CLI that is judged, and what of it is known while a run lasts."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from harness.engine import Engine
from harness.errors import TargetNotReady
from harness.exchange import Exchange
from harness.fakes.kilo.shim import write_shim
from harness.fetch import fetch
from harness.kilo_cli import Cli, Ran, Start
from harness.mutants.kilo_cli import find
from harness.stand_ins import KiloSource, KiloStandIn
from harness.supervised import StartFailed

_VERSION = re.compile(r"^\d+\.\d+\.\d+\S*$", re.MULTILINE)
_VERSION_SECONDS = 60.0


@dataclass(frozen=True)
class Made:
    """A start that was made: the nonces in it, what came of it, and the model calls that it led to."""

    words: Mapping[str, str]
    ran: Ran
    calls: tuple[Exchange, ...]


@dataclass(frozen=True)
class KiloDesk:
    """A CLI that can be started, and its version as it says itself; empty when it says none.

    `made` are the starts of recorded scenarios, by the names of these: a start is dear, and serves every check that
    wants the same.
    """

    cli: Cli
    version: str
    made: dict[str, Made] = field(default_factory=dict)


def open_desk(kilo: KiloSource, engine: Engine, work: Path, model_url: str) -> KiloDesk:
    """The desk of a CLI: the stand-in, a version of the binary, or a command.

    Raises TargetNotReady when it cannot be started.
    """
    cli = Cli(engine, _command(kilo, work), work, model_url)
    try:
        ran = cli.begin(Start(("--version",))).result(_VERSION_SECONDS)
    except StartFailed as error:
        raise TargetNotReady("it starts", error.reason, "check the command") from error
    found = _VERSION.search(ran.stdout)
    return KiloDesk(cli, found[0] if found else "")


def behaviour_of(stand_in: KiloStandIn) -> dict[str, Any]:
    """What `behaviour.json` says for a stand-in."""
    base: dict[str, Any] = {"version": stand_in.version}
    return find(stand_in.flaw).apply(base) if stand_in.flaw else base


def _command(kilo: KiloSource, work: Path) -> tuple[str, ...]:
    if isinstance(kilo, tuple):
        return kilo
    if isinstance(kilo, str):
        return (str(fetch(f"kilo@{kilo}")),)
    folder = work / "shims"
    shim = write_shim(folder)
    (folder / "behaviour.json").write_text(json.dumps(behaviour_of(kilo)), encoding="utf-8")
    return (str(shim),)
