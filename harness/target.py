"""A target: the system under test, as its file or its URL describes it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from harness.errors import UsageError
from harness.stand_ins import KiloSource, ModelStandIn, StandIn
from harness.target_keys import Key, KeyFacts, Minting
from harness.target_schema import facts_problems
from harness.template import placeholders
from harness.waiver import Waiver


@dataclass(frozen=True)
class Agent:
    """An agent of the target; `provider` and `model` are what its prompts must name.

    Both are None when the file does not say, and when the agent has no model configured (`no_model`).
    """

    id: str
    provider: str | None = None
    model: str | None = None
    no_model: bool = False


@dataclass(frozen=True)
class Policies:
    """The choices that the contract leaves to the target; None where it does not declare its choice."""

    non_boolean_stream: str | None = None
    empty_user_content: str | None = None
    history: str | None = None
    over_window: str | None = None


@dataclass(frozen=True)
class Start:
    """How to start the target. All three are templates; `cwd` is relative to the target file's folder."""

    command: tuple[str, ...]
    env: Mapping[str, str]
    cwd: str = "."


@dataclass(frozen=True)
class Ready:
    """How the target is seen to be up, within `within` seconds: `path` answers, `log` is matched, or both.

    `path` answers when its status is `status`, or below 500 when that is None. `log` is a regular expression
    that is looked for in each line of what the started target writes.
    """

    path: str | None = "/v1/models"
    status: int | None = None
    log: str | None = None
    within: float = 15.0


Asked = Literal["responses", "argument", "stdin"]
"""How an agent that wraps the Kilo CLI is asked: by the Responses API, or as a command that prints the answer and whose
prompt is an argument or its standard input."""


@dataclass(frozen=True)
class Facts:
    """All that checks and recorded runs know of a target: no addresses, no commands, no sources of secrets.

    `deadline` is the time in seconds within which a turn is answered or refused, `abort_grace` the time after
    giving up in which a model call may still begin. `pace` is how many times shorter than real ones the waits of the
    stand-in are that is judged, or that is behind the target.
    `window` is how many tokens a model server takes in all, `reasoning_field` where it gives reasoning; None where
    the description does not say. `asked` is how an agent that wraps the Kilo CLI is asked.
    """

    kind: str
    name: str
    agents: tuple[Agent, ...]
    keys: tuple[KeyFacts, ...]
    capabilities: tuple[str, ...]
    policies: Policies
    deadline: float
    abort_grace: float
    url_given: bool
    pace: float = 1.0
    window: int | None = None
    reasoning_field: str | None = None
    asked: Asked = "responses"

    def to_json(self) -> dict[str, Any]:
        """Return the facts as JSON; what is not declared is left out."""
        told = {"window": self.window, "reasoning_field": self.reasoning_field}
        return {
            "kind": self.kind,
            "name": self.name,
            "agents": [dict(vars(agent)) for agent in self.agents],
            "keys": [key.to_json() for key in self.keys],
            "capabilities": list(self.capabilities),
            "policies": {name: choice for name, choice in vars(self.policies).items() if choice is not None},
            "deadline": self.deadline,
            "abort_grace": self.abort_grace,
            "url_given": self.url_given,
            **({"pace": self.pace} if self.pace != 1.0 else {}),
            **({"asked": self.asked} if self.asked != "responses" else {}),
            **{name: value for name, value in told.items() if value is not None},
        }

    @classmethod
    def from_json(cls, data: object) -> Facts:
        """Return the facts that `to_json` wrote; raises UsageError when `data` is anything else."""
        problems = sorted(str(problem) for problem in facts_problems(data))
        if problems or not isinstance(data, dict):
            raise UsageError(
                f"the recorded facts of the target cannot be read: {problems[0]}",
                "The record was written by another version of turnproof, or was changed.",
            )
        return cls(
            kind=data["kind"],
            name=data["name"],
            agents=tuple(Agent(**agent) for agent in data["agents"]),
            keys=tuple(KeyFacts(**{**key, "agents": tuple(key["agents"])}) for key in data["keys"]),
            capabilities=tuple(data["capabilities"]),
            policies=Policies(**data["policies"]),
            deadline=float(data["deadline"]),
            abort_grace=float(data["abort_grace"]),
            url_given=data["url_given"],
            pace=float(data.get("pace", 1.0)),
            window=data.get("window"),
            reasoning_field=data.get("reasoning_field"),
            asked=data.get("asked", "responses"),
        )


@dataclass(frozen=True)
class Target:
    """A target with everything needed to start it, to see it ready and to get its keys.

    Exactly one of `url`, `start`, `opencode`, `model` and `kilo` is set: `opencode` is an opencode server that is
    judged itself, the stand-in, a version of the real one or its executable, `model` the model server stand-in, `kilo`
    a Kilo CLI.
    `source` is the file or URL as the user named it, `folder` what relative paths are relative to. `agents` is empty
    when they are to be discovered, as those of the keys then are. `upstream` is the face of the model server behind a
    model server, `captures` the template of the folder where that keeps captured calls.
    `pace` is that of the stand-in that is judged or put behind it, 1 where there is none. `kilo_behind` is what comes
    first on the PATH of an agent that wraps the Kilo CLI: `stand-in`, a version or an executable; `asked` is how such
    an agent is asked, `in_environment` whether its configuration comes as variables.
    """

    kind: str
    name: str
    source: str
    folder: Path
    url: str | None
    start: Start | None
    ready: Ready
    agents: tuple[Agent, ...]
    keys: tuple[Key, ...]
    capabilities: tuple[str, ...] = ()
    policies: Policies = Policies()
    deadline: float = 60.0
    abort_grace: float = 1.0
    mint: Minting | None = None
    opencode: StandIn | str | Path | None = None
    kilo: KiloSource | None = None
    pace: float = 1.0
    model: ModelStandIn | None = None
    window: int | None = None
    reasoning_field: str | None = None
    captures: str | None = None
    upstream: str | None = None
    kilo_behind: str | Path = "stand-in"
    asked: Asked = "responses"
    in_environment: bool = False
    waivers: tuple[Waiver, ...] = ()

    @property
    def facts(self) -> Facts:
        """The target as checks see it."""
        return Facts(
            kind=self.kind,
            name=self.name,
            agents=self.agents,
            keys=tuple(KeyFacts(key.name, key.state, key.agents, rate_cap=key.rate_cap) for key in self.keys),
            capabilities=self.capabilities,
            policies=self.policies,
            deadline=self.deadline,
            abort_grace=self.abort_grace,
            url_given=self.url is not None,
            pace=self.pace,
            window=self.window,
            reasoning_field=self.reasoning_field,
            asked=self.asked,
        )


def told_port(target: Target) -> bool:
    """Tell whether the target's start command or environment says on which port it is waited for."""
    return mentions(target, "port") or mentions(target, "url")


def mentions(target: Target, placeholder: str) -> bool:
    """Tell whether the target's start command or environment holds `{placeholder}`, named without braces."""
    if target.start is None:
        return False
    templates = [*target.start.command, *target.start.env.values()]
    return any(placeholder in placeholders(template) for template in templates)
