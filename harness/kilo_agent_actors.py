"""The actors for checks of an agent that wraps the Kilo CLI: the agents themselves, and the CLI behind them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.actors import Call, Running
from harness.chat import post
from harness.check import NotMeasured, expect
from harness.errors import HarnessError, TargetNotReady
from harness.exchange import Exchange, parse_json
from harness.fakes.kilo.arguments import given
from harness.kilo_agents import LiveAgents, Wanted
from harness.target import Asked
from harness.telling import concealed
from harness.world import World

RESPONSES = "/v1/responses"
RUN = "/run"

_LONGEST_ARGUMENT = 128 * 1024 - 1
"""As Linux has it, in bytes."""

_MEND = "start with this configuration and the environment that is inherited"


def live_agents(running: Running | None) -> LiveAgents:
    """The live agents; raises HarnessError in a replay, where nothing may reach for them."""
    if not isinstance(running, LiveAgents):
        raise HarnessError("there are no live agents here")
    return running


def unaskable(asked: Asked, path: str, body: Any) -> str:
    """Why a command that is asked so cannot be asked this; empty when it can."""
    prompt = body.get("input")
    if path != RESPONSES:
        return "it makes no rollouts of its own"
    if body.keys() != {"input"} or not isinstance(prompt, str):
        return "it takes a prompt and nothing more"
    if any("\ud800" <= character <= "\udfff" for character in prompt):
        return "what it is given is UTF-8, which this prompt is not"
    if asked == "argument" and ("\0" in prompt or len(prompt.encode()) > _LONGEST_ARGUMENT):
        return "its argument cannot hold this prompt"
    return ""


class Agent:
    """An agent that was started with `wanted`, and is `asked` in that way."""

    def __init__(self, world: World, running: Running | None, wanted: Wanted, asked: Asked) -> None:
        self._world, self._running, self._wanted, self._asked = world, running, wanted, asked

    def begin(self, label: str, path: str, body: Any, rollout: str | None = None) -> Call:
        """Post `body` in the background, inside a rollout of that id or outside any.

        Raises NotMeasured for what the agent cannot be asked, being a command.
        """
        why = "" if self._asked == "responses" else unaskable(self._asked, path, body)
        if why:
            raise NotMeasured(f"the agent is a command: {why}")
        request = post(body, f"/ng-rollout/{rollout}{path}" if rollout is not None else path)
        pending = live_agents(self._running).ask(self._wanted, request, label) if self._running else None
        asked = {"path": request.target, "body": request.body.decode()}
        return Call(self._world, label, asked, pending)

    def respond(self, label: str, body: Any, rollout: str | None = None) -> Exchange:
        """The answer to a request for a response; a text is asked as the user's."""
        return self.begin(label, RESPONSES, {"input": body} if isinstance(body, str) else body, rollout).result()

    def run(self, label: str, prompt: str, rollout: str | None = None) -> Exchange:
        """The answer to a whole rollout of a prompt."""
        return self.begin(label, RUN, {"responses_create_params": {"input": prompt}}, rollout).result()

    def log(self, label: str) -> str:
        """What the agent has written so far."""
        return str(self._act(label, "log", lambda agents: agents.log(self._wanted)))

    def keeps_configuration(self, label: str) -> bool:
        """Whether the configuration is as it was given."""
        return bool(
            self._act(label, "keeps its configuration", lambda agents: agents.keeps_configuration(self._wanted))
        )

    def left(self, label: str) -> list[str]:
        """The processes of runs that are over and that are still there."""
        return [str(one) for one in self._act(label, "left", lambda agents: agents.left(self._wanted))]

    def _act(self, label: str, asked: str, look: Callable[[LiveAgents], Any]) -> Any:
        return self._world.act("agents", label, asked, lambda: look(live_agents(self._running)))


class Agents:
    """Starts the target with configurations."""

    def __init__(self, world: World, running: Running | None, asked: Asked) -> None:
        self._world, self._running, self._asked = world, running, asked

    def start(
        self,
        label: str,
        configuration: Mapping[str, Any],
        env: Mapping[str, str] | None = None,
        project: Mapping[str, str] | None = None,
    ) -> Agent:
        """An agent with this configuration, which inherits `env` and works on a folder with the files `project`.

        Of agents that are wanted alike only one is started. A finding when it does not come up.
        """
        wanted = Wanted(dict(configuration), dict(env or {}), dict(project or {}))
        asked = {"configuration": wanted.configuration, "env": wanted.env, "project": wanted.project}
        problem = self._world.act("agents", label, asked, lambda: self._start(wanted))
        expect(problem is None, f"an agent that starts with {wanted.configuration}", str(problem), _MEND)
        return Agent(self._world, self._running, wanted, self._asked)

    def show(self, label: str, face: str) -> None:
        """Have the model server behind the agents show itself as a real one does, from its next call on."""
        self._world.act("agents", label, face, lambda: live_agents(self._running).behind.show(face))

    def _start(self, wanted: Wanted) -> str | None:
        try:
            live_agents(self._running).start(wanted)
        except TargetNotReady as error:
            return f"{error.message}\n{concealed(error.log)[-1500:]}"
        return None


@dataclass(frozen=True)
class Run:
    """A start of the CLI, as it was written down.

    `status` is None while it runs, when it was ended, and always for a real one.
    """

    argv: tuple[str, ...]
    cwd: str
    env: Mapping[str, str]
    stdin: str
    files: tuple[Mapping[str, Any], ...]
    status: int | None

    @property
    def folder(self) -> str:
        """The value of `--dir`, or else the current folder."""
        return self.option("--dir") or self.cwd

    def option(self, *names: str) -> str | None:
        """The value of an option of one of these names, before `--`; None when it is not given."""
        return given(self.argv, *names)

    @property
    def options(self) -> tuple[str, ...]:
        """The arguments before `--`."""
        return self.argv[: self.argv.index("--")] if "--" in self.argv else self.argv

    @property
    def prompt(self) -> str | None:
        """What stands after `--`; None when nothing does."""
        return " ".join(self.argv[self.argv.index("--") + 1 :]) if "--" in self.argv else None

    @property
    def settings(self) -> Mapping[str, Any] | None:
        """The `kilo.json` in the folder; None when there is none."""
        file = self.settings_file
        return parse_json(str(file["text"]).encode()) if file else None

    @property
    def settings_file(self) -> Mapping[str, Any] | None:
        """The `kilo.json` in the folder with its path, mode and text; None when there is none."""
        path = f"{self.folder.rstrip('/')}/kilo.json"
        return next((file for file in self.files if file["path"] == path), None)


class Kilo:
    """The CLI behind the agents: the stand-in, or a real one, which does not do as it is told."""

    def __init__(self, world: World, running: Running | None) -> None:
        self._world, self._running = world, running

    def expect_stand_in(self, label: str) -> None:
        """Raise NotMeasured unless it is the stand-in."""
        self._on_stand_in(label, "present", lambda _: None)

    def behave(self, label: str, rules: Mapping[str, Any] | None = None, **faults: Any) -> None:
        """How it behaves from its next start on: by other rules than its version's, and with these faults.

        Raises NotMeasured unless it is the stand-in.
        """
        told = {"rules": dict(rules or {}), "faults": faults}
        self._on_stand_in(label, told, lambda agents: agents.behind.behave(told))

    def take_away(self, label: str) -> None:
        """Have no CLI installed; that can be done to a real one too."""
        self._world.act("kilo", label, "taken away", self._take_away)

    def runs(self, label: str) -> tuple[Run, ...]:
        """Its runs in this check, in order."""
        seen = self._world.act("kilo", label, "runs", self._seen_runs)
        runs = tuple(Run(**{**one, "argv": tuple(one["argv"]), "files": tuple(one["files"])}) for one in seen)
        return tuple(run for run in runs if run.argv[:1] == ("run",))

    def _seen_runs(self) -> list[dict[str, Any]]:
        return live_agents(self._running).behind.runs()

    def _take_away(self) -> None:
        live_agents(self._running).behind.take_away()

    def kept(self, label: str, runs: tuple[Run, ...]) -> list[str]:
        """Those of the runs' folders that still exist."""
        asked = [run.folder for run in runs]
        return [str(one) for one in self._world.act("kilo", label, len(asked), lambda: _existing(asked))]

    def _on_stand_in(self, label: str, asked: Any, tell: Callable[[LiveAgents], None]) -> None:
        def perform() -> bool:
            agents = live_agents(self._running)
            if agents.behind.stand_in:
                tell(agents)
            return agents.behind.stand_in

        if not self._world.act("kilo", label, asked, perform):
            raise NotMeasured("a real kilo is behind the agent, which cannot be told what to do")


def _existing(folders: list[str]) -> list[str]:
    return [folder for folder in dict.fromkeys(folders) if Path(folder).exists()]
