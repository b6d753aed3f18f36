"""From a target file or a bare URL to a target."""

from __future__ import annotations

import os
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

from harness.errors import UsageError
from harness.fakes.kilo.rules import NEWEST
from harness.stand_ins import KiloSource, KiloStandIn, StandIn
from harness.target import Agent, Asked, Policies, Ready, Start, Target
from harness.target_keys import (
    OPENCODE_KEYS,
    Expiring,
    FromCommand,
    FromEnvironment,
    FromRequest,
    Key,
    KeySource,
    Listing,
    Minting,
    Request,
)
from harness.target_rules import rule_problems
from harness.target_schema import Problem, target_problems
from harness.target_url import base_url
from harness.template import placeholders
from harness.toml_file import read_toml
from harness.waiver import Waiver
from harness.waiver_problems import one_for_each_waiver

KEY_VARIABLE = "TURNPROOF_API_KEY"
"""The environment variable that holds the key of a target given by a bare URL."""

_STAND_IN = "stand-in"
_HINT = "turnproof docs targets describes every key of a target file."
_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://|https?:", re.IGNORECASE)
_URL_WITHOUT_SCHEME = re.compile(r"(localhost|[\w.-]+:\d+|\[[0-9a-fA-F:.]+\](:\d+)?)(/.*)?\Z|.*/v1/?\Z")


def find(text: str, kind: str = "agent-endpoint") -> Target:
    """Return the target that `text` names: a target file or an http(s) URL, at which a target of `kind` is.

    Raises UsageError when there is no such file, and when the file or URL cannot be used.
    """
    if _URL.match(text):
        return from_url(text, kind)
    if not Path(text).exists() and _URL_WITHOUT_SCHEME.match(text):
        raise UsageError(f"{text}: no such file", f"For a URL, write its scheme: http://{text}")
    return load(Path(text))


def from_url(url: str, kind: str = "agent-endpoint") -> Target:
    """Return the target at `url`, with one valid key `main` from TURNPROOF_API_KEY and no known agents.

    Of a model server it is known that it lists its models; it is up when it does so with the key: without one, some
    proxies answer 500.
    Raises UsageError when `url` is not an http(s) URL with a host.
    """
    address = base_url(url)
    return Target(
        kind=kind,
        capabilities=("models",) if kind == "model-server" else (),
        name=address,
        source=address,
        folder=Path.cwd(),
        url=address,
        start=None,
        ready=Ready(None if kind == "model-server" else Ready.path),
        agents=(),
        keys=(Key("main", "valid", (), FromEnvironment(KEY_VARIABLE)),),
    )


def load(path: Path) -> Target:
    """Return the target that the file at `path` describes.

    Raises UsageError with every problem of the file, one a line, as `file:line: key: what is wrong`.
    """
    document = read_toml(path, "Name a target file, or an http:// or https:// URL.", _HINT)
    data = document.data
    problems = target_problems(data) | rule_problems(data) | _executables(data, path)
    document.refuse(one_for_each_waiver(problems))
    target = _target(data, path)
    place = document.place
    waivers = (replace(waiver, line=place.of(("waivers", i))) for i, waiver in enumerate(target.waivers))
    return replace(target, waivers=tuple(waivers))


def _executables(data: dict[str, Any], path: Path) -> set[Problem]:
    """The executables that are named by their paths, and that are not there."""
    found = {key: _executable(data.get(key), path) for key in ("opencode", "kilo")}
    mend = "build it, or mend the path"
    return {
        Problem((key,), f"there is no executable file {file}: {mend}")
        for key, file in found.items()
        if file is not None and not (file.is_file() and os.access(file, os.X_OK))
    }


def _executable(value: object, path: Path) -> Path | None:
    """The executable that `opencode` or `kilo` names by its path; None when it names a version or the stand-in."""
    return path.resolve().parent / value if isinstance(value, str) and "/" in value else None


def _target(data: dict[str, Any], path: Path) -> Target:
    return Target(
        kind=data["kind"],
        name=data["name"],
        source=str(path),
        folder=path.resolve().parent,
        url=base_url(data["url"]) if "url" in data else None,
        start=_start(data["start"]) if "start" in data else None,
        ready=_ready(data.get("ready", {})),
        agents=tuple(_agent(agent) for agent in data.get("agents", ())),
        keys=OPENCODE_KEYS if "opencode" in data else tuple(_key(key) for key in data.get("keys", ())),
        capabilities=tuple(data.get("capabilities", ())),
        policies=Policies(**data.get("policies", {})),
        deadline=float(data.get("deadline", Target.deadline)),
        abort_grace=float(data.get("abort_grace", Target.abort_grace)),
        mint=_minting(data["mint"]) if "mint" in data else None,
        opencode=_opencode(data["opencode"], path) if "opencode" in data else None,
        kilo=_kilo(data["kilo"], path) if data["kind"] == "kilo-cli" else None,
        window=data.get("window"),
        reasoning_field=data.get("reasoning_field"),
        captures=data.get("captures"),
        upstream=data.get("upstream"),
        kilo_behind=_executable(data.get("kilo"), path) or data.get("kilo", Target.kilo_behind),
        asked=_asked(data),
        in_environment=data.get("configuration") == "environment",
        waivers=tuple(_waiver(waiver) for waiver in data.get("waivers", ())),
    )


def _opencode(value: str, path: Path) -> StandIn | str | Path:
    return StandIn() if value == _STAND_IN else _executable(value, path) or value


def _kilo(value: str, path: Path) -> KiloSource:
    executable = _executable(value, path)
    if executable is not None:
        return (str(executable),)
    return KiloStandIn(NEWEST) if value == _STAND_IN else value


def _asked(data: dict[str, Any]) -> Asked:
    if data.get("interface") != "command":
        return "responses"
    return "argument" if any("prompt" in placeholders(part) for part in data["start"]["command"]) else "stdin"


def _start(data: dict[str, Any]) -> Start:
    return Start(tuple(data["command"]), data.get("env", {}), data.get("cwd", Start.cwd))


def _ready(data: dict[str, Any]) -> Ready:
    return Ready(
        path=data.get("path", None if "log" in data else Ready.path),
        status=int(data["status"]) if "status" in data else None,
        log=data.get("log"),
        within=float(data.get("within", Ready.within)),
    )


def _agent(data: dict[str, Any]) -> Agent:
    provider, _, model = data.get("model", "").partition("/")
    return Agent(data["id"], provider or None, model or None, "no_model" in data)


def _key(data: dict[str, Any]) -> Key:
    return Key(
        name=data["name"],
        state=data["state"],
        agents=tuple(data.get("agents", ())),
        source=_key_source(data),
        revoke=_request(data["revoke"]) if "revoke" in data else None,
        rate_cap=data.get("rate_cap"),
    )


def _key_source(data: dict[str, Any]) -> KeySource:
    if "env" in data:
        return FromEnvironment(data["env"])
    if "command" in data:
        return FromCommand(tuple(data["command"]))
    mint = data["mint"]
    return FromRequest(_request(mint), mint["pointer"], mint.get("id_pointer"))


def _minting(data: dict[str, Any]) -> Minting:
    return Minting(
        path=data["path"],
        headers=data["headers"],
        pointer=data["pointer"],
        id_pointer=data.get("id_pointer"),
        agent_headers=data.get("agent_headers"),
        listing=Listing(data["list"]["path"], data["list"]["pointer"]) if "list" in data else None,
        revoke=_request(data["revoke"]) if "revoke" in data else None,
        expiring=Expiring(data["expiring"]["body"], float(data["expiring"]["within"])) if "expiring" in data else None,
        store=data.get("store"),
    )


def _waiver(data: dict[str, Any]) -> Waiver:
    return Waiver(**{**data, "until": str(data["until"])})


def _request(data: dict[str, Any]) -> Request:
    return Request(data.get("method", "POST"), data["path"], data.get("headers", {}), data.get("body"))
