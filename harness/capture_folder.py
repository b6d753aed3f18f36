"""The calls that a model server kept per rollout, `<id>.capture.jsonl` in a folder, and the actor that reads them."""

from __future__ import annotations

import contextlib
import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from harness.check import NotMeasured
from harness.fakes.model.captures import SUFFIX
from harness.world import World

_SECONDS = 2.0
_POLL_SECONDS = 0.02


class CaptureReader:
    """Reads captured calls. Raises NotMeasured where the target does not tell in which `folder` they are."""

    def __init__(self, world: World, folder: Path | None) -> None:
        self._world, self._folder = world, folder

    def of(self, label: str, rollout: str, count: int) -> list[dict[str, Any]]:
        """The calls kept for a rollout, as soon as there are `count`, or as they are after a while."""
        asked = {"of": rollout, "count": count}
        return list(self._look(label, asked, lambda folder: _wait(folder, rollout, count)))

    def holding(self, label: str, word: str) -> list[str]:
        """The rollouts for which something was kept that holds `word`."""
        return list(self._look(label, {"holding": word}, lambda folder: sorted(_holding(folder, word))))

    def _look(self, label: str, asked: Any, read: Callable[[Path], list[Any]]) -> Any:
        folder = self._folder
        seen = self._world.act("captures", label, asked, lambda: None if folder is None else read(folder))
        if seen is None:
            raise NotMeasured("the target's description does not say where captured calls are (captures)")
        return seen


def _wait(folder: Path, rollout: str, count: int) -> list[Any]:
    deadline = time.monotonic() + _SECONDS
    while len(kept := _read(folder / f"{rollout}{SUFFIX}")) < count and time.monotonic() < deadline:
        time.sleep(_POLL_SECONDS)
    return kept


def _read(path: Path) -> list[Any]:
    """The calls in a file; a line that is no JSON, or not whole yet, is none."""
    with contextlib.suppress(FileNotFoundError):
        return list(_parsed(path.read_text(encoding="utf-8", errors="replace").split("\n")))
    return []


def _parsed(lines: list[str]) -> Iterator[Any]:
    for line in lines:
        with contextlib.suppress(ValueError):
            yield json.loads(line)


def _holding(folder: Path, word: str) -> Iterator[str]:
    for path in folder.glob(f"*{SUFFIX}"):
        if word.encode() in path.read_bytes():
            yield path.name.removesuffix(SUFFIX)
