"""Agents that wrap the Kilo CLI, as checks reach them: each started with a configuration of the check's own."""

from __future__ import annotations

import json
import os
import shutil
import time
from collections.abc import Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any

from harness.client import Client
from harness.errors import TargetNotReady
from harness.exchange import Request
from harness.hearing import Hearing
from harness.journal import Window
from harness.kilo_agent_start import as_variables, launch, readiness
from harness.kilo_behind import KiloBehind
from harness.listener import free_port
from harness.live import LATE_SECONDS, LiveTarget, PendingRequest
from harness.readiness import await_ready
from harness.redaction import Redactor
from harness.supervised import Supervised
from harness.target import Target, told_port
from harness.template import JSON, expand, expand_json

_KEPT = 6
"""So many agents go on running, for checks that want the same configuration; starting one is dear."""

_CALL_SECONDS = 10.0
_LEFT_SECONDS = 3.0
_POLL_SECONDS = 0.02


@dataclass(frozen=True)
class Wanted:
    """With what an agent is started: its configuration, variables that it inherits, and files of its project."""

    configuration: Mapping[str, Any]
    env: Mapping[str, str] = field(default_factory=dict)
    project: Mapping[str, str] = field(default_factory=dict)

    @property
    def key(self) -> str:
        """The same for agents that are started in the same way."""
        return json.dumps([self.configuration, self.env, self.project], sort_keys=True)


class _EndedAtOnce(TargetNotReady):
    """An agent ended before it was ready."""


class RunningAgent:
    """An agent that is up.

    `written` is what its configuration was, `native` are the processes of its own, `said` is what it had written when
    a check asked for it.
    """

    def __init__(self, process: Supervised, client: Client, file: Path) -> None:
        self.process, self.client, self.file = process, client, file
        self.written = file.read_bytes()
        self.native = frozenset(process.descendants())
        self.pending: list[PendingRequest] = []
        self.said = ""


class LiveAgents(LiveTarget):
    """The agents of a target that is started anew for each configuration, with the CLI and the servers behind it."""

    def __init__(
        self, target: Target, behind: KiloBehind, values: Mapping[str, str], redactor: Redactor, hearing: Hearing
    ) -> None:
        super().__init__(behind.engine, behind.journal, values["url"], {}, target.deadline, behind)
        self.behind = behind
        self._target, self._values, self._redactor, self._hearing = target, dict(values), redactor, hearing
        self._agents: dict[str, RunningAgent] = {}
        self._folder = Path(values["work"])
        self._temporary = self._folder / "tmp"
        self._temporary.mkdir()
        self._count = 0
        self._enders = ThreadPoolExecutor(_KEPT, "end agents")
        self._endings: list[Future[object]] = []

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for key in list(self._agents):
            self._end(key)
        self._enders.shutdown()
        super().__exit__(kind, error, trace)
        for ending in self._endings:
            ending.result()  # raises HarnessError for one that could not be ended

    def start(self, wanted: Wanted) -> str:
        """The base URL of an agent that was started so; raises TargetNotReady when it does not come up."""
        agent = self._agents.pop(wanted.key, None)
        if agent is not None and agent.process.poll() is not None:
            agent = None
        while len(self._agents) >= _KEPT:
            self._end(next(iter(self._agents)))
        self._agents[wanted.key] = agent = agent or self._start(wanted)
        agent.said = agent.process.output.text()
        return agent.client.base_url

    def ask(self, wanted: Wanted, request: Request, label: str) -> PendingRequest:
        """Send a request to the agent that was started so, in the background."""
        agent = self._agents[wanted.key]
        recording = self._journal.record("client", request, label)
        future = self._engine.submit(agent.client.send(request, recording, self._deadline, LATE_SECONDS))
        agent.pending.append(PendingRequest(self._journal, recording, future))
        return agent.pending[-1]

    def log(self, wanted: Wanted) -> str:
        """What the agent has written since it was asked for."""
        agent = self._agents[wanted.key]
        return self._redactor.redact(agent.process.output.text().removeprefix(agent.said))

    def keeps_configuration(self, wanted: Wanted) -> bool:
        """Whether the file of the agent's configuration is as it was given."""
        agent = self._agents[wanted.key]
        return agent.file.exists() and agent.file.read_bytes() == agent.written

    def left(self, wanted: Wanted) -> list[str]:
        """The processes of its runs that are still there, after a moment to end."""
        agent, deadline = self._agents[wanted.key], time.monotonic() + _LEFT_SECONDS
        while (pids := set(agent.process.descendants()) - agent.native) and time.monotonic() < deadline:
            time.sleep(_POLL_SECONDS)
        return sorted(_command_of(pid) for pid in pids)

    def close_window(self) -> Window:
        """As its base; an agent that still answers something is ended, so that no later check is disturbed."""
        for key, agent in list(self._agents.items()):
            open_ = [pending for pending in agent.pending if not pending.over]
            for pending in agent.pending:
                pending.leave()
            agent.pending.clear()
            if open_:
                self._end(key)
        return super().close_window()

    def _start(self, wanted: Wanted) -> RunningAgent:
        """Start an agent; once more when it ended at once, since another program may have taken its port meanwhile."""
        try:
            return self._try(wanted)
        except _EndedAtOnce:
            return self._try(wanted)

    def _try(self, wanted: Wanted) -> RunningAgent:
        self._count += 1
        port, folder = free_port(), self._folder / f"agent-{self._count}"
        folder.mkdir()
        file = folder / "configuration.json"
        values = {**self._values, "port": str(port), "url": f"http://127.0.0.1:{port}"}
        values |= {"config": str(file), "project": str(folder / "project")}
        configuration = _configuration(wanted, folder, values)
        file.write_text(json.dumps(configuration), encoding="utf-8")
        told = as_variables(configuration) if self._target.in_environment else {}
        process = launch(self._target, values, {**self._environment(wanted, values), **told})
        self._hearing.add(process)
        try:
            knows = self._target.asked != "responses" or told_port(self._target)
            await_ready(readiness(self._target), values["url"], process, knows)
        except TargetNotReady as error:
            kind = TargetNotReady if process.poll() is None else _EndedAtOnce
            process.stop()
            log = error.log or self._redactor.redact(process.output.text())
            raise kind(error.step, error.message, error.hint, log) from error
        return RunningAgent(process, Client(values["url"]), file)

    def _environment(self, wanted: Wanted, values: Mapping[str, str]) -> dict[str, str]:
        """What the agent inherits.

        The CLI behind it comes first on PATH, and no other is on it; what it leaves among temporary files goes with the
        run's folder.
        """
        path = [str(self.behind.folder)]
        path += [f for f in os.environ.get("PATH", os.defpath).split(os.pathsep) if not shutil.which("kilo", path=f)]
        given = {name: expand(value, values, os.environ) for name, value in wanted.env.items()}
        return {**os.environ, "TMPDIR": str(self._temporary), **given, "PATH": os.pathsep.join(path)}

    def _end(self, key: str) -> None:
        """End an agent, without waiting for it: what comes next has no use for it."""
        self._endings.append(self._enders.submit(self._agents.pop(key).process.stop))


def _configuration(wanted: Wanted, folder: Path, values: Mapping[str, str]) -> dict[str, JSON]:
    configuration: dict[str, JSON] = dict(wanted.configuration)
    if wanted.project:
        project = folder / "project"
        for name, text in wanted.project.items():
            path = project / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(_filled(text, values), encoding="utf-8")
        configuration = {**wanted.configuration, "repo_dir": str(project)}
    return {name: expand_json(value, values, os.environ, name) for name, value in configuration.items()}


def _filled(text: str, values: Mapping[str, str]) -> str:
    """A file's text; its braces are its own, so only the addresses in it are put in."""
    for name in ("decoy_url", "model_url"):
        text = text.replace(f"{{{name}}}", values[name])
    return text


def _command_of(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace").strip()[:200]
    except OSError:
        return "a process that has just ended"
