"""Starts of a Kilo CLI, each in folders of its own, with nothing of the user's and no way out but loopback."""

from __future__ import annotations

import contextlib
import json
import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from harness.engine import Engine
from harness.host_watch import HostWatch
from harness.supervised import Supervised
from harness.telling import beginning

PROVIDER = "nemo"
"""The provider that every configuration of ours declares."""

MODELS = ("m", "vendor/m", "Qwen/Qwen2.5-7B-Instruct", "a/b/c")
"""The models that the model server behind a CLI serves."""

OFF = {"KILO_TELEMETRY_LEVEL": "off", "KILO_DISABLE_MODELS_FETCH": "1"}
"""Variables that switch off what a CLI does besides its turn."""

APART = {
    "XDG_CONFIG_HOME": "{own}/config",
    "XDG_DATA_HOME": "{own}/data",
    "XDG_CACHE_HOME": "{own}/cache",
    "XDG_STATE_HOME": "{own}/state",
    "KILO_NO_DAEMON": "1",
    "KILO_DB": ":memory:",
    # A turn is over before its garbage matters, and a tenth sooner.
    "BUN_JSC_useGC": "0",
}
"""Variables of every start: what it keeps is in folders of its own, and no other Kilo CLI has a part in it."""

_CALL_SECONDS = 10.0
_GRACE = 0.5
# A CLI that says more than this is out of its mind; its own files are smaller.
_FILE_BYTES = 1 << 30
_KEPT_CHARACTERS = 256 * 1024


@dataclass(frozen=True)
class Start:
    """What a CLI is started with.

    `config` becomes `kilo.json` in its folder, `files` are written besides, by their paths relative to the folder of
    the run: `project` is where it works, `home` its HOME. `env` adds variables to those of every start, None removes
    one. `stdin` is what stands on its standard input, nothing when None. In all texts `{project}`, `{home}`, `{own}`
    (the parent of its XDG folders), `{shared}` (a folder that is the same for all starts) and `{model_url}` (with
    `/v1`) are replaced.
    """

    arguments: tuple[str, ...]
    config: Mapping[str, Any] | None = None
    env: Mapping[str, str | None] = field(default_factory=lambda: dict(OFF))
    files: Mapping[str, str] = field(default_factory=dict)
    stdin: str | None = None

    def to_json(self) -> dict[str, Any]:
        """The start as a JSON object."""
        return {**asdict(self), "arguments": list(self.arguments)}


@dataclass(frozen=True)
class Ran:
    """What came of a start.

    `status` is the exit status (a negative signal number for a signal), None for one that had to be ended. Paths and
    addresses of the run are replaced by `{project}` and so on. `hosts` are other hosts that it asked for, `home` what
    is in its HOME at the end: texts by relative path.
    """

    status: int | None
    seconds: float
    stdout: str
    stderr: str
    hosts: tuple[str, ...] = ()
    home: Mapping[str, str] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """What came as a JSON object."""
        return {**asdict(self), "seconds": round(self.seconds, 3), "hosts": list(self.hosts)}

    @classmethod
    def from_json(cls, value: dict[str, Any]) -> Ran:
        """The inverse of `to_json`."""
        return cls(**{**value, "hosts": tuple(value["hosts"])})


class Going:
    """A start under way."""

    def __init__(self, engine: Engine, watch: HostWatch, process: Supervised, folder: Path, names: Mapping[str, str]):
        self._engine, self._watch, self._process, self._folder = engine, watch, process, folder
        self._names = names
        self._began = time.monotonic()

    def result(self, within: float) -> Ran:
        """Wait for its end, at most so many seconds after its start; then it is ended with all that came from it."""
        status = self._process.wait(max(0.0, self._began + within - time.monotonic()))
        seconds = time.monotonic() - self._began
        self.leave()
        with (self._folder / "stdout").open(encoding="utf-8", errors="replace", newline="") as file:
            said = file.read(_KEPT_CHARACTERS)
        return Ran(
            status=status,
            seconds=seconds,
            stdout=self._named(said),
            stderr=self._named(self._process.output.text()),
            hosts=self._watch.hosts,
            home=_texts_in(self._folder / "home"),
        )

    def leave(self) -> None:
        """End it with all that came from it."""
        self._process.stop(_GRACE)
        self._engine.call(self._watch.stop(), _CALL_SECONDS)

    def _named(self, text: str) -> str:
        for name, value in self._names.items():
            text = text.replace(value, f"{{{name}}}").replace(value.lstrip("/"), f"{{{name}}}")
        return text


class Cli:
    """A CLI that can be started: `command` with its arguments to come, in folders under `work`."""

    def __init__(self, engine: Engine, command: Sequence[str], work: Path, model_url: str) -> None:
        self._engine, self._command, self._work, self._model_url = engine, tuple(command), work, model_url
        self._count = 0
        self._going: list[Going] = []

    def __enter__(self) -> Cli:
        return self

    def __exit__(self, *_: object) -> None:
        self.settle()

    def settle(self) -> None:
        """End every start that is still under way."""
        for going in self._going:
            going.leave()
        self._going.clear()

    def begin(self, start: Start) -> Going:
        """Start it. Raises `StartFailed` when the command cannot be run."""
        self._count += 1
        folder = self._work / f"start-{self._count}"
        names = {name: str(folder / name) for name in ("project", "home", "own")}
        names |= {"shared": str(self._work / "shared"), "model_url": self._model_url}
        for name in ("project", "home", "own"):
            (folder / name).mkdir(parents=True)
        for path, text in start.files.items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_text(filled(text, names), encoding="utf-8")
        if start.config is not None:
            text = filled(json.dumps(start.config), names)
            (folder / "project" / "kilo.json").write_text(text, encoding="utf-8")
        watch = HostWatch()
        self._engine.call(watch.start(), _CALL_SECONDS)
        env = {
            "PATH": os.environ.get("PATH", os.defpath),
            "HOME": "{home}",
            **APART,
            **watch.environment,
            **start.env,
        }
        try:
            process = Supervised.start(
                [*self._command, *(filled(argument, names) for argument in start.arguments)],
                env={name: filled(value, names) for name, value in env.items() if value is not None},
                cwd=folder / "project",
                name="kilo",
                stdin=_written(folder / "stdin", start.stdin),
                stdout=folder / "stdout",
                file_bytes=_FILE_BYTES,
            )
        except BaseException:
            self._engine.call(watch.stop(), _CALL_SECONDS)
            raise
        self._going.append(Going(self._engine, watch, process, folder, names))
        return self._going[-1]


def filled(text: str, names: Mapping[str, str]) -> str:
    """The text with each `{name}` replaced by its value."""
    for name, value in names.items():
        text = text.replace(f"{{{name}}}", value)
    return text


def _written(path: Path, text: str | None) -> Path | None:
    if text is None:
        return None
    path.write_text(text, encoding="utf-8")
    return path


def _texts_in(folder: Path) -> dict[str, str]:
    found: dict[str, str] = {}
    for path in sorted(folder.rglob("*")):
        with contextlib.suppress(OSError):
            if path.is_file():
                text = path.read_text(encoding="utf-8", errors="replace")
                found[str(path.relative_to(folder))] = beginning(text, 2000)
    return found
