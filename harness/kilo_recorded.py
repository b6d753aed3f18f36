"""What was recorded of each version of the Kilo CLI."""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from harness.fakes.kilo.rules import FILE

RECORDINGS = Path(__file__).parent / "fixtures" / "recordings"

_PREFIX = "kilo-"
_NOT_IN_A_NAME = re.compile(r"[^A-Za-z0-9_.-]+")


def file_name(scenario: str) -> str:
    """The name of a recording's file, without its ending."""
    return _NOT_IN_A_NAME.sub("_", scenario)


def versions() -> tuple[str, ...]:
    """The versions of which there are recordings, oldest first."""
    names = (path.name.removeprefix(_PREFIX) for path in RECORDINGS.glob(f"{_PREFIX}*"))
    return tuple(sorted(names, key=_number))


def newest() -> str:
    """The newest of them: what is held against a version that nobody has recorded."""
    return versions()[-1]


def held_against(version: str) -> str:
    """The recorded version that a CLI of `version` is held against: its own, or the newest."""
    return version if version in versions() else newest()


@functools.cache
def recorded(version: str) -> Mapping[str, Mapping[str, Any]]:
    """All outcomes of a version, by the name of the scenario's file."""
    paths = (path for path in sorted(folder_of(version).glob("*.json")) if path.name != FILE)
    return {path.stem: json.loads(path.read_text(encoding="utf-8")) for path in paths}


def outcome_of(version: str, scenario: str) -> Mapping[str, Any]:
    """What a scenario came to in the version that one of `version` is held against; empty when it is not recorded."""
    return recorded(held_against(version)).get(file_name(scenario), {})


def folder_of(version: str, root: Path = RECORDINGS) -> Path:
    """Where the recordings of a version are under `root`."""
    return root / f"{_PREFIX}{version}"


def _number(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", version))
