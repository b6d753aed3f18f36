"""The opencode server behind a target, or judged itself: a real binary, supervised, or the stand-in."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from harness.engine import Engine
from harness.errors import TargetNotReady
from harness.fakes.opencode.behaviour import Behaviour
from harness.fakes.opencode.server import OpencodeServer, with_pace
from harness.listener import free_port
from harness.mutants.opencode import find
from harness.stand_ins import StandIn
from harness.supervised import StartFailed, Supervised

USERNAME = "opencode"
VERSION = "1.18.33"
"""The version that the stand-in stands for, and that `real` means."""

STAND_IN, REAL = "stand-in", "real"
"""What may be put behind a target; a version may be named too."""

PROVIDER = "litellm"
MODELS = ("vendor/large-1", "small-1")
"""The provider and the models of an opencode server that is judged itself."""

_READY = re.compile(r"opencode server listening on (http://\S+)")
_READY_SECONDS = 60.0
_SLOW = "see its output; on a machine that does much else, try again"
_CALL_SECONDS = 10.0
_QUIET = {
    "OPENCODE_DISABLE_AUTOUPDATE": "1",
    "OPENCODE_DISABLE_LSP_DOWNLOAD": "1",
    "OPENCODE_DISABLE_MODELS_FETCH": "1",
    "OPENCODE_DISABLE_DEFAULT_PLUGINS": "1",
    "OPENCODE_DISABLE_CLAUDE_CODE": "1",
    "OPENCODE_PURE": "1",
    "npm_config_offline": "true",
}


def config(model_url: str, models: Iterable[tuple[str, str]], key: str = "none") -> dict[str, Any]:
    """The configuration that sends every (provider, model) of `models` to the model server at `model_url` (with `/v1`).

    The model server stand-in takes any `key`.
    """
    providers: dict[str, Any] = {}
    for provider, model in models:
        entry = providers.setdefault(
            provider,
            {
                "npm": "@ai-sdk/openai-compatible",
                "name": provider,
                "options": {"baseURL": model_url, "apiKey": key},
                "models": {},
            },
        )
        entry["models"][model] = {}
    return {
        "$schema": "https://opencode.ai/config.json",
        "autoupdate": False,
        "share": "disabled",
        "enabled_providers": sorted(providers),
        "provider": providers,
    }


def environment(home: Path, password: str, username: str = USERNAME) -> Mapping[str, str]:
    """The environment of a server whose home is `home`: no variable of the user's but PATH reaches it."""
    return {
        "PATH": os.environ.get("PATH", os.defpath),
        "HOME": str(home),
        "XDG_CONFIG_HOME": str(home / ".config"),
        "XDG_DATA_HOME": str(home / ".local/share"),
        "XDG_CACHE_HOME": str(home / ".cache"),
        "XDG_STATE_HOME": str(home / ".local/state"),
        "OPENCODE_SERVER_PASSWORD": password,
        **({"OPENCODE_SERVER_USERNAME": username} if username != USERNAME else {}),
        **_QUIET,
    }


@dataclass(frozen=True)
class Binary:
    """A real opencode: of a version, fetched, or with None for it the user's own."""

    version: str | None
    path: Path

    def __str__(self) -> str:
        return f"opencode {self.version}" if self.version else f"opencode at {self.path}"


Part = Binary | StandIn


@contextlib.contextmanager
def serving(part: Part, engine: Engine, work: Path, settings: Mapping[str, Any], password: str) -> Iterator[str]:
    """The base URL of a server under `work`, for as long as the context lasts.

    Raises TargetNotReady when it does not come up.
    """
    if isinstance(part, Binary):
        process, url = start(part.path, work, settings, password)
        with process:
            yield url
        return
    folder = work / "project"
    folder.mkdir()
    behaviour = find(part.flaw).apply(Behaviour()) if part.flaw else Behaviour()
    behaviour = with_pace(behaviour, part.pace)
    if part.prompt:
        behaviour = replace(behaviour, preparing=0.0)
    server = OpencodeServer(settings, folder, password, behaviour=behaviour)
    engine.call(server.start(), _CALL_SECONDS)
    try:
        yield server.url
    finally:
        engine.call(server.stop(), _CALL_SECONDS)


def start(
    binary: Path,
    work: Path,
    settings: Mapping[str, Any] | str,
    password: str,
    username: str = USERNAME,
    arguments: Sequence[str] = (),
) -> tuple[Supervised, str]:
    """A server under `work` and its base URL, once it said that it listens; raises TargetNotReady when it does not.

    `settings` may be given as text, `arguments` are further ones. What an earlier one under `work` left is what it
    finds. It is started once more when it ended at once, since another
    program may have taken its port meanwhile.
    """
    home, folder = work / "home", work / "project"
    (home / ".config/opencode").mkdir(parents=True, exist_ok=True)
    folder.mkdir(exist_ok=True)
    text = settings if isinstance(settings, str) else json.dumps(settings)
    (home / ".config/opencode/opencode.json").write_text(text)
    env = environment(home, password, username)
    process, match = _started(binary, folder, env, arguments)
    if match is None and process.poll() is not None:
        process.stop()
        process, match = _started(binary, folder, env, arguments)
    if match is None:
        process.stop()
        raise TargetNotReady("opencode starts", "opencode did not come up", _SLOW, process.output.text())
    return process, match.group(1)


def _started(
    binary: Path, folder: Path, env: Mapping[str, str], arguments: Sequence[str]
) -> tuple[Supervised, re.Match[str] | None]:
    """A server, and the line with which it said that it listens, None where it did not."""
    command = [str(binary), "serve", "--port", str(free_port()), "--hostname", "127.0.0.1", *arguments]
    try:
        process = Supervised.start(command, env=env, cwd=folder, name="opencode", ready_line=_READY)
    except StartFailed as error:
        message = f"{binary} cannot be run: {error.reason}"
        raise TargetNotReady("opencode starts", message, "fetch it again: turnproof fetch opencode@VERSION") from error
    return process, _READY.search(process.wait_for_line(_READY, time.monotonic() + _READY_SECONDS) or "")


def describe(part: Part) -> dict[str, str]:
    """The part of the chain: its name and version, and the SHA-256 digest of a binary."""
    if isinstance(part, StandIn):
        return {"name": "opencode stand-in", "version": VERSION}
    with part.path.open("rb") as stream:
        return {
            "name": "opencode",
            **({"version": part.version} if part.version else {}),
            "sha256": hashlib.file_digest(stream, "sha256").hexdigest(),
        }
