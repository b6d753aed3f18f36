"""The endpoint's configuration: a JSON file; addresses and secrets come from the environment."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from harness.errors import UsageError
from harness.reference.endpoint.agents import Agents

VARIABLES = {
    "OPENCODE_URL": "opencode_url",
    "OPENCODE_SERVER_PASSWORD": "opencode_password",
    "ENDPOINT_DATABASE": "database",
    "ENDPOINT_OWNER_TOKEN": "owner_token",
}
"""The environment variables that must be set, and the fields that they fill."""

LAUNCH_VARIABLES = {"ENDPOINT_MODEL_URL": "model_url", "ENDPOINT_LAUNCH_FOLDER": "folder"}
"""Those that are set, in place of OPENCODE_URL and its password, for an endpoint that starts an opencode itself."""

_REGISTRY = "ENDPOINT_REGISTRY_TOKEN"
_DEADLINE = "ENDPOINT_DEADLINE"
_FOLDERS = "ENDPOINT_FOLDERS"


@dataclass(frozen=True)
class Launching:
    """How an opencode is started: for the model server at `model_url`, in `folder`, where it is up `within` seconds."""

    model_url: str
    folder: str
    within: float = 10.0


@dataclass(frozen=True)
class Config:
    """What the endpoint needs to know.

    A request is answered or refused within `deadline` seconds; `abort_grace` of them are kept for giving up.
    `rate_cap_default` is the number of turns per minute of a key minted without a cap, None for no limit. An agent
    that is not in `folders` works in opencode's own folder. With `launching` the endpoint starts the opencode itself.
    """

    agents: Agents
    database: str
    owner_token: str = field(repr=False)
    opencode_url: str = ""
    opencode_password: str = field(default="", repr=False)
    registry_token: str | None = field(default=None, repr=False)
    opencode_username: str = "opencode"
    deadline: float = 20.0
    abort_grace: float = 1.0
    rate_cap_default: int | None = None
    folders: Mapping[str, str] = field(default_factory=dict)
    launching: Launching | None = None

    @property
    def budget(self) -> float:
        """Seconds that a turn may take: the deadline less what giving up takes, but at least half of it."""
        return max(self.deadline - self.abort_grace, self.deadline / 2)


def load_config(path: Path, environ: Mapping[str, str]) -> Config:
    """The configuration in `path`; raises UsageError when it or a variable cannot be had.

    The deadline is ENDPOINT_DEADLINE in seconds, where it is set. The registry token of an agent is
    ENDPOINT_REGISTRY_TOKEN; without it there is none. Folders are relative to ENDPOINT_FOLDERS, or else to the
    current one.
    """
    launches = any(environ.get(name) for name in LAUNCH_VARIABLES)
    given: dict[str, Any] = _from(environ, {k: v for k, v in VARIABLES.items() if not (launches and "OPENCODE" in k)})
    if launches:
        found = _from(environ, LAUNCH_VARIABLES)
        given["launching"] = Launching(found["model_url"], found["folder"])
    try:
        if environ.get(_DEADLINE):
            given["deadline"] = float(environ[_DEADLINE])
        settings = json.loads(path.read_text("utf-8"))
        config = Config(**settings, **given, registry_token=environ.get(_REGISTRY) or None)
        root = Path(environ.get(_FOLDERS, ".")).resolve()
        return replace(config, folders={agent: str(root / name) for agent, name in config.folders.items()})
    except (OSError, ValueError, TypeError) as error:
        raise UsageError(f"{path}: {error}", "Its keys are the fields of Config that no variable fills.") from error


def _from(environ: Mapping[str, str], variables: Mapping[str, str]) -> dict[str, str]:
    """The fields that `variables` fill; raises UsageError naming those that are not set."""
    missing = [name for name in variables if not environ.get(name)]
    if missing:
        raise UsageError(f"not set: {', '.join(missing)}", "Set them in the endpoint's environment.")
    return {field_name: environ[name] for name, field_name in variables.items()}
