"""What stands behind an agent that wraps the Kilo CLI: the CLI itself, a model server and a resources server."""

from __future__ import annotations

import base64
import contextlib
import hashlib
import json
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from harness.behind import ModelBehind
from harness.engine import Engine
from harness.exchange import Hop
from harness.fakes.kilo.shim import write_shim
from harness.fakes.model.face import PLAIN
from harness.fakes.model.faces import face_named
from harness.fakes.model.server import ModelServer
from harness.fakes.resources import ResourcesServer
from harness.journal import Journal

MODELS = ("vendor/large-1", "small-1")
"""The models that the model server behind an agent serves."""

STAND_IN = "stand-in"
VERSION = "7.7.9"
"""The version that the stand-in stands for."""

KEY = "own-key"
"""The one key that a model server takes which asks for one."""

WINDOW = 32768
"""Tokens of the window of a model server that has one."""

FACE = replace(PLAIN, rollouts=True)
"""How the model server shows itself unless it is told otherwise: it says what its script holds, inside rollouts too."""

_CALL_SECONDS = 10.0
_TOLD = ("KILO", "OPENCODE", "OPENAI", "XDG_", "HOME", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY")


@dataclass(frozen=True)
class KiloPart:
    """The CLI that is put first on the agent's PATH: the stand-in, or a real one at `binary`.

    `version` is None for one whose version is not known.
    """

    version: str | None = VERSION
    binary: Path | None = None

    def __str__(self) -> str:
        if self.binary is None:
            return "kilo stand-in"
        return f"kilo {self.version}" if self.version else f"kilo at {self.binary}"


@dataclass(frozen=True)
class KiloBehind(ModelBehind):
    """Part of a run whose targets start the CLI in `folder` themselves; see `Behind`."""

    resources: ResourcesServer
    folder: Path
    part: KiloPart

    def placeholders(self) -> Mapping[str, str]:
        """Part of `Behind`; nothing is served at the `decoy_url`, and calls to it are seen all the same."""
        urls = {"resources_url": self.resources.url, "decoy_url": f"{self.model.url}/decoy/v1"}
        return {**super().placeholders(), **urls}

    def observes(self, hop: Hop) -> bool:
        """Part of `Behind`."""
        return hop in ("client", "model", "resources")

    @property
    def stand_in(self) -> bool:
        """Whether the CLI is the stand-in, which does as it is told."""
        return self.part.binary is None

    def behave(self, behaviour: Mapping[str, Any]) -> None:
        """How the stand-in behaves from its next start on."""
        (self.folder / "behaviour.json").write_text(json.dumps(behaviour), encoding="utf-8")

    def show(self, face: str) -> None:
        """Have the model server show itself as a real one does; see `harness.fakes.model.faces`."""
        shown = face_named(face, WINDOW)
        self.model.face = replace(shown, rollouts=True, keys=None if shown.keys is None else {KEY: frozenset(MODELS)})

    def take_away(self) -> None:
        """From here on the CLI is not installed."""
        (self.folder / "kilo").unlink(missing_ok=True)

    def runs(self) -> list[dict[str, Any]]:
        """What the CLI was given at each start since the last rest, in their order, and how it ended.

        The end of a real one is not seen.
        """
        files = [path for path in (self.folder / "runs").glob("*.json") if path.name.count(".") == 1]
        return [_run(path) for path in sorted(files, key=lambda path: int(path.stem))]

    def settle(self) -> None:
        """Part of `Behind`: the CLI is there, does as its version does, and nothing of it is remembered."""
        super().settle()
        self.model.face = FACE
        shutil.rmtree(self.folder / "runs", ignore_errors=True)
        (self.folder / "behaviour.json").unlink(missing_ok=True)
        install(self.part, self.folder)


def install(part: KiloPart, folder: Path) -> None:
    """Put the executable `kilo` into `folder`, unless it is there."""
    if not (folder / "kilo").exists():
        write_shim(folder, part.binary)


@contextlib.contextmanager
def running(engine: Engine, journal: Journal, part: KiloPart, work: Path) -> Iterator[KiloBehind]:
    """The servers, and the CLI in a folder under `work`, for as long as the context lasts."""
    folder = work / "kilo"
    folder.mkdir()
    install(part, folder)
    with contextlib.ExitStack() as ends:
        model, resources = ModelServer(MODELS, journal, FACE), ResourcesServer(journal)
        for server in (model, resources):
            engine.call(server.start(), _CALL_SECONDS)
            ends.callback(_stop, engine, server)
        yield KiloBehind(engine, journal, model, resources, folder, part)


def _stop(engine: Engine, server: ModelServer | ResourcesServer) -> None:
    engine.call(server.stop(), _CALL_SECONDS)


def describe(part: KiloPart) -> dict[str, str]:
    """The part of the chain: its name and version, and the SHA-256 digest of a binary."""
    version = {"version": part.version} if part.version else {}
    if part.binary is None:
        return {"name": "kilo stand-in", **version}
    with part.binary.open("rb") as stream:
        digest = hashlib.file_digest(stream, "sha256").hexdigest()
    return {"name": "kilo", **version, "sha256": digest}


def _run(path: Path) -> dict[str, Any]:
    """A run as it is recorded: of the environment only what steers the CLI, since the rest is the user's."""
    told = json.loads(path.read_text("utf-8"))
    end = path.with_suffix(".end.json")
    return {
        "argv": told["argv"],
        "cwd": told["cwd"],
        "env": {name: value for name, value in told["env"].items() if name.upper().startswith(_TOLD)},
        "stdin": told["stdin"],
        "files": [{"path": f["path"], "mode": f["mode"], "text": _text(f["base64"])} for f in told["files"]],
        "status": json.loads(end.read_text("utf-8"))["status"] if end.exists() else None,
    }


def _text(encoded: str) -> str:
    return base64.b64decode(encoded).decode("utf-8", "replace")
