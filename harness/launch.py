"""From a described target to a running one, with what stands behind it.

`launched` takes the steps that the doctor reports: the parts behind come up, the target starts, it is ready, its
keys are had. Whatever it started is ended when its context ends, on every path.
"""

from __future__ import annotations

import base64
import contextlib
import functools
import os
import re
import secrets
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path

from harness import behind, keys, kilo_behind, kilo_target, model_server, opencode, stack
from harness.attached import attached
from harness.behind import Behind, ModelAlone
from harness.engine import Engine
from harness.errors import TargetNotReady, TurnproofError
from harness.fakes.opencode.shim import LaunchFault, write_shim
from harness.far_end import OURS
from harness.hearing import Hearing
from harness.held import HeldParts
from harness.journal import Journal
from harness.key_desk import KeyDesk, key_desk
from harness.kilo_agents import LiveAgents
from harness.kilo_behind import KiloBehind, KiloPart
from harness.kilo_desk import KiloDesk
from harness.listener import free_port
from harness.live import LiveTarget
from harness.opencode import USERNAME, Binary
from harness.opencode_processes import Processes
from harness.parts import PACE, Chain, Part, Say, models_of
from harness.readiness import await_ready
from harness.redaction import Redactor
from harness.spoilt_keys import name_of_spoilt, spoilt
from harness.stand_ins import StandIn
from harness.supervised import StartFailed, Supervised
from harness.target import Start, Target, mentions, told_port
from harness.target_secrets import from_environment
from harness.telling import conceal_with
from harness.template import expand
from harness.work_folder import work_folder


def _quietly(_step: str, _detail: str) -> None:
    pass


@dataclass(frozen=True)
class Launch:
    """A running target. `process` is None for a target given by URL, `desk` where it does not describe minting, `kilo`
    for all but a Kilo CLI. `hearing` hears all processes that are started for it by its description.

    `behind` is what stands behind it, None when that is nothing of ours. `again` launches it once more, beside this
    one, with an opencode that cannot be started; None where the target does not start one that is ours. `servers` are
    further ones like the opencode that is judged, None where none is. `captures` is the folder where it keeps captured
    calls, None where it does not say.
    """

    target: Target
    live: LiveTarget
    process: Supervised | None
    redactor: Redactor
    hearing: Hearing = field(default_factory=Hearing)
    desk: KeyDesk | None = None
    behind: Behind | None = None
    again: Callable[[LaunchFault], AbstractContextManager[Launch]] | None = None
    servers: Processes | None = None
    captures: Path | None = None
    kilo: KiloDesk | None = None

    def log(self) -> str:
        """What the target has written so far, without secrets; empty when it is not ours."""
        return self.redactor.redact(self.process.output.text()) if self.process else ""


@dataclass(frozen=True)
class Ground:
    """What a target stands on: the engine, the journal, a work folder, and what is behind it, if anything is."""

    engine: Engine
    journal: Journal
    work: Path
    part: Part | None
    behind: Behind | None


@contextlib.contextmanager
def ground(target: Target, part: Part | None, say: Say = _quietly, first_number: int = 1) -> Iterator[Ground]:
    """The ground for `target`, for as long as the context lasts; its exchanges count from `first_number`.

    `part` is what to put behind it; with None nothing of ours is behind. Raises TargetNotReady when that does
    not come up.
    """
    with contextlib.ExitStack() as ends:
        work = ends.enter_context(work_folder())
        engine = ends.enter_context(Engine())
        journal = Journal(first_number)
        running: Behind | None = None
        if isinstance(part, ModelAlone):
            running = ends.enter_context(behind.model_alone(engine, journal, part, work))
            say("what is behind it is up", str(part))
        elif isinstance(part, KiloPart):
            running = ends.enter_context(kilo_behind.running(engine, journal, part, work))
            say("what is behind it is up", f"{part}, model server, resources server")
        elif isinstance(part, HeldParts):
            running = ends.enter_context(attached(engine, journal, part))
            say("what is behind it is held", str(part))
        elif part is not None:
            tapped = target.opencode is None
            chain = part if isinstance(part, Chain) else Chain(part, OURS)
            models = models_of(target)
            running = ends.enter_context(
                stack.running(engine, journal, chain.opencode, models, work, tapped, chain.far)
            )
            say("the parts behind it are up", f"{chain}, {'taps' if tapped else 'one tap'}")
        yield Ground(engine, journal, work, part, running)


@contextlib.contextmanager
def launched_on(
    base: Ground,
    target: Target,
    say: Say = _quietly,
    redactor: Redactor | None = None,
    hearing: Hearing | None = None,
    fault: LaunchFault | None = None,
) -> Iterator[Launch]:
    """The target, up and with its keys, for as long as the context lasts.

    Its secrets are made known to `redactor`, and its processes to `hearing`. `fault` is what is wrong with the opencode
    that it finds on its PATH. Raises TargetNotReady naming the step that failed, and UsageError when an environment
    variable is missing.
    """
    redactor = redactor or Redactor()
    hearing = hearing or Hearing()
    conceal_with(redactor.redact)
    with _concealing(redactor), contextlib.ExitStack() as ends:
        values = _values(target, base, redactor, fault)
        for name, secret in from_environment(target, os.environ).items():
            redactor.add(name, secret)
        if isinstance(base.behind, stack.Stack) and target.opencode is not None:
            yield ends.enter_context(_opencode_itself(target, base, base.behind, redactor))
            return
        if isinstance(base.behind, behind.ModelBehind) and target.model is not None:
            live, captures = ends.enter_context(model_server.itself(target, base.behind, redactor))
            yield Launch(target, live, None, redactor, behind=base.behind, captures=captures)
            return
        if isinstance(base.behind, behind.ModelBehind) and target.kilo is not None:
            cli, live = ends.enter_context(kilo_target.itself(target, target.kilo, base.behind, base.work, say))
            yield Launch(target, live, None, redactor, behind=base.behind, kilo=cli)
            return
        if isinstance(base.behind, KiloBehind):
            agents = ends.enter_context(LiveAgents(target, base.behind, values, redactor, hearing))
            yield Launch(target, agents, None, redactor, hearing, behind=base.behind)
            return
        desk = key_desk(target, values, redactor)
        process = None
        if target.start is not None:
            process = _start(target, target.start, values)
            ends.enter_context(process)
            hearing.add(process)
            say("it starts", f"process {process.pid}")
        with _showing_log(process):
            await_ready(target.ready, values["url"], process, told_port(target))
            say("it is ready", values["url"])
            secrets_: dict[str, str] = {}
            for name, secret in keys.obtain(target, values):
                redactor.add(f"key.{name}", secret)
                for how, nearly in spoilt(secret).items():
                    redactor.add(name_of_spoilt(name, how), nearly)
                secrets_[name] = secret
            say("its keys are had", ", ".join(secrets_))
        live = LiveTarget(base.engine, base.journal, values["url"], secrets_, target.deadline, base.behind)
        ends.enter_context(live)
        once_more = functools.partial(launched_on, base, target, _quietly, redactor, hearing)
        again = once_more if mentions(target, "shims") else None
        captures = Path(target.folder, expand(target.captures, values, os.environ)) if target.captures else None
        yield Launch(target, live, process, redactor, hearing, desk, base.behind, again, captures=captures)


@contextlib.contextmanager
def launched(target: Target, part: Part | None, say: Say = _quietly, first_number: int = 1) -> Iterator[Launch]:
    """The target on a ground of its own; see `ground` and `launched_on`."""
    with ground(target, part, say, first_number) as base, launched_on(base, target, say) as launch:
        yield launch


@contextlib.contextmanager
def _opencode_itself(target: Target, base: Ground, running: stack.Stack, redactor: Redactor) -> Iterator[Launch]:
    """The launch of an opencode server that is judged itself; its key is what HTTP Basic carries."""
    key = base64.b64encode(f"{USERNAME}:{running.password}".encode()).decode()
    redactor.add(f"key.{target.keys[0].name}", key)
    keys_ = {target.keys[0].name: key}
    assert isinstance(base.part, Binary | StandIn)
    settings = opencode.config(running.model_url, models_of(target))
    servers = Processes(base.engine, base.journal, base.part, settings, base.work, redactor, running.password)
    with (
        LiveTarget(base.engine, base.journal, running.server_url, keys_, target.deadline, running) as live,
        contextlib.closing(servers),
    ):
        yield Launch(target, live, None, redactor, servers=servers)


def _values(target: Target, base: Ground, redactor: Redactor, fault: LaunchFault | None) -> dict[str, str]:
    port, owner, registry = free_port(), secrets.token_urlsafe(24), secrets.token_urlsafe(24)
    redactor.add("owner", owner)
    redactor.add("registry", registry)
    folder = Path(tempfile.mkdtemp(prefix="target-", dir=base.work))
    shims = folder.with_name(f"{folder.name}-shims")
    if mentions(target, "shims"):
        real = base.part.opencode if isinstance(base.part, ModelAlone) else None
        write_shim(shims, PACE, fault, real)
    values = {
        "python": sys.executable,
        "port": str(port),
        "url": target.url or f"http://127.0.0.1:{port}",
        "deadline": f"{target.deadline:g}",
        "work": str(folder),
        "shims": str(shims),
        "owner_secret": owner,
        "registry_secret": registry,
    }
    if base.behind is not None:
        base.behind.conceal(redactor)
        values |= base.behind.placeholders()
    return values


def _start(target: Target, start: Start, values: Mapping[str, str]) -> Supervised:
    command = [expand(part, values, os.environ, f"start.command[{i}]") for i, part in enumerate(start.command)]
    env = {name: expand(value, values, os.environ, f"start.env.{name}") for name, value in start.env.items()}
    cwd = target.folder / expand(start.cwd, values, os.environ, "start.cwd")
    pattern = re.compile(target.ready.log) if target.ready.log else None
    try:
        return Supervised.start(command, env={**os.environ, **env}, cwd=cwd, name=target.name, ready_line=pattern)
    except StartFailed as error:
        message = f"{command[0]} in {cwd}: {error.reason}"
        raise TargetNotReady("it starts", message, "check start.command and start.cwd") from error


@contextlib.contextmanager
def _concealing(redactor: Redactor) -> Iterator[None]:
    """Keep secrets out of what an error says, such as of an answer: it is shown, and written down."""
    try:
        yield
    except TurnproofError as error:
        error.conceal(redactor.redact)
        raise


@contextlib.contextmanager
def _showing_log(process: Supervised | None) -> Iterator[None]:
    """Give a failure the end of what the target wrote."""
    try:
        yield
    except TargetNotReady as error:
        if process is not None and not error.log:
            error.log = process.output.text()
        raise
