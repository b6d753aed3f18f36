"""The kind of target `kilo-cli`: its built-in targets, its launch, and its round trip."""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Callable, Iterator
from pathlib import Path

from harness.behind import ModelAlone, ModelBehind
from harness.errors import TargetNotReady, UsageError
from harness.fakes.kilo.rules import NEWEST
from harness.fakes.model.script import Answer, Rule, told
from harness.fetch import fetch
from harness.kilo_cli import MODELS
from harness.kilo_desk import KiloDesk, open_desk
from harness.kilo_recorded import versions
from harness.kilo_starts import turn
from harness.live import LiveTarget
from harness.mutants.kilo_cli import find
from harness.stand_ins import KiloSource, KiloStandIn
from harness.target import Ready, Target
from harness.world import derive_nonce

KIND = "kilo-cli"
STAND_IN, FLAW, REAL, PATH = "kilo-stand-in", "kilo-flaw:", "kilo@", "kilo:"

PART = ModelAlone(frozenset(MODELS))
"""What stands behind a Kilo CLI that is judged."""

_SECONDS, _STAND_IN_SECONDS = 120.0, 16.0
_CHECK = "doctor"


def built_in(text: str) -> Target | None:
    """The target that `text` names; None when it names no Kilo CLI.

    Raises UsageError for an unknown version or flaw.
    """
    source = _source(text)
    if source is None:
        return None
    return Target(
        kind=KIND,
        name=_name(source),
        source=text,
        folder=Path.cwd(),
        url=None,
        start=None,
        ready=Ready(),
        agents=(),
        keys=(),
        deadline=_STAND_IN_SECONDS if isinstance(source, KiloStandIn) else _SECONDS,
        kilo=source,
    )


def _source(text: str) -> KiloSource | None:
    if text.startswith(REAL):
        return text.removeprefix(REAL)
    if text.startswith(FLAW):
        return KiloStandIn(NEWEST, find(text.removeprefix(FLAW)).name)
    if text.startswith(PATH) and text != PATH:
        return (str(Path(text.removeprefix(PATH)).absolute()),)
    name, _, version = text.partition(":")
    if name != STAND_IN:
        return None
    if version and version not in versions():
        raise UsageError(f"no rules of kilo {version!r} were recorded", f"recorded: {', '.join(versions())}")
    return KiloStandIn(version or NEWEST)


def _name(source: KiloSource) -> str:
    if isinstance(source, tuple):
        return f"kilo at {source[0]}"
    return str(source) if isinstance(source, KiloStandIn) else f"kilo {source}"


def described(target: Target) -> tuple[dict[str, str], ...]:
    """The CLI that is judged, for the header of a results file: its name, and version and digest as far as known."""
    source = target.kilo
    if source is None:
        return ()
    if isinstance(source, KiloStandIn):
        return ({"name": "kilo stand-in", "version": source.version},)
    known = {"name": "kilo"} if isinstance(source, tuple) else {"name": "kilo", "version": source}
    binary = Path(source[0]) if isinstance(source, tuple) else fetch(f"kilo@{source}")
    if not binary.is_file():
        return (known,)
    with binary.open("rb") as stream:
        return ({**known, "sha256": hashlib.file_digest(stream, "sha256").hexdigest()},)


@contextlib.contextmanager
def itself(
    target: Target, source: KiloSource, running: ModelBehind, work: Path, say: Callable[[str, str], None]
) -> Iterator[tuple[KiloDesk, LiveTarget]]:
    """The CLI, which is started anew for each turn, and what stands behind it.

    Raises TargetNotReady when it cannot be started.
    """
    desk = open_desk(source, running.engine, work, running.model_url)
    say("it starts", f"it says that it is version {desk.version or 'unknown'}")
    with LiveTarget(running.engine, running.journal, "", {}, target.deadline, running) as live, desk.cli:
        yield desk, live


def round_trip(target: Target, desk: KiloDesk, live: LiveTarget, seed: str) -> tuple[str, str]:
    """One prompt, looked for at the model server; what was shown, and its detail.

    Raises TargetNotReady when it did not get there, or the answer did not come back.
    """
    asked, answered = (derive_nonce(seed, _CHECK, label) for label in ("asked", "answered"))
    live.use_model_rules((Rule(asked, (Answer(text=answered),)),))
    ran = desk.cli.begin(turn(prompt=asked)).result(target.deadline)
    calls = live.seen("model")
    live.close_window()
    if answered not in ran.stdout or not told(calls, asked):
        message = f"{len(calls)} calls reached the model server; the CLI ended with status {ran.status}"
        raise TargetNotReady("a nonce makes it all the way round", message, "see its output", ran.stdout + ran.stderr)
    return "a nonce made it all the way round", f"prompt, CLI, model server, in {ran.seconds:.1f} s"
