"""One run of the CLI: in a folder of its own, under a supervisor, within one deadline."""

from __future__ import annotations

import re
import shutil
import tempfile
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from harness.reference.kilo.environment import folders
from harness.reference.kilo.events import Event, EventParser, ReadEvent
from harness.reference.kilo.outcome import Ran
from harness.supervised import StartFailed, Supervised

_GRACE_SECONDS = 0.5
_PIECE = 1 << 16
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
_OTHER_SETTINGS = ("kilo.json", "kilo.jsonc", "opencode.json", "opencode.jsonc", ".kilo", ".kilocode", ".opencode")
"""What in a project's folder Kilo would read as its configuration, before ours or beside it."""


class Folder:
    """The folder of one run: the project that it works on, and its home. It is gone when its context ends."""

    def __init__(self, repo_dir: str | None) -> None:
        self._repo_dir = repo_dir

    def __enter__(self) -> Folder:
        self.root = Path(tempfile.mkdtemp(prefix="kilo-run-")).resolve()
        self.project, self.home, self.output = self.root / "project", self.root / "home", self.root / "events.jsonl"
        try:
            self._fill()
        except OSError:
            shutil.rmtree(self.root, ignore_errors=True)
            raise
        return self

    def __exit__(self, *_: object) -> None:
        shutil.rmtree(self.root, ignore_errors=True)

    def _fill(self) -> None:
        if self._repo_dir is None:
            self.project.mkdir()
        else:
            shutil.copytree(self._repo_dir, self.project, symlinks=True, ignore=_settings_of(self._repo_dir))
        for folder in folders(self.home).values():
            folder.mkdir(parents=True, exist_ok=True)


class Runner:
    """Runs the CLI; `close` ends what still runs, from any thread."""

    def __init__(self, read_event: ReadEvent) -> None:
        self._read_event = read_event
        self._running: set[Supervised] = set()
        self._lock = threading.Lock()
        self._closed = False

    def run(self, command: Sequence[str], env: Mapping[str, str], folder: Folder, deadline: float) -> Ran:
        """Run to the end, or to `deadline` (of `time.monotonic`); nothing of the run is left then."""
        try:
            process = Supervised.start(command, env=env, cwd=folder.project, name="kilo", stdout=folder.output)
        except (StartFailed, ValueError) as error:
            return Ran(unstarted=error.reason if isinstance(error, StartFailed) else str(error))
        with process:
            self._enter(process)
            status = process.wait(max(0.0, deadline - time.monotonic()))
            process.stop(_GRACE_SECONDS)
        with self._lock:
            self._running.discard(process)
        return Ran(tuple(self._events(folder.output)), status, errors=_last_line(process.output.text()))

    def close(self) -> None:
        """End every run, and any that is begun hereafter."""
        with self._lock:
            self._closed = True
            running = tuple(self._running)
        for process in running:
            process.stop(_GRACE_SECONDS)

    def _enter(self, process: Supervised) -> None:
        with self._lock:
            self._running.add(process)
            closed = self._closed
        if closed:
            process.stop(_GRACE_SECONDS)

    def _events(self, output: Path) -> list[Event]:
        parser, events = EventParser(self._read_event), []
        with output.open("rb") as file:
            while piece := file.read(_PIECE):
                events += parser.feed(piece)
        return events + parser.close()


def _settings_of(root: str) -> Callable[[str, list[str]], list[str]]:
    def ignored(folder: str, names: list[str]) -> list[str]:
        return [name for name in names if folder == root and name in _OTHER_SETTINGS]

    return ignored


def _last_line(text: str) -> str:
    lines = [line.strip() for line in _COLOUR.sub("", text).splitlines() if line.strip()]
    return lines[-1][:500] if lines else ""
