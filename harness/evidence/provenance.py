"""What ran: the harness, the commit of the target, and the machine's system."""

from __future__ import annotations

import os
import platform
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from harness.errors import UsageError
from harness.evidence.canonical import canonical, digest
from harness.target import Target

_PACKAGE = Path(__file__).parent.parent
_SOURCES = (".py", ".toml")
_GIT_SECONDS = 30.0


@dataclass(frozen=True)
class Commit:
    """A commit of the target; `changed` tells whether its files differed from it, `claimed` that a person named it."""

    id: str
    changed: bool = False
    claimed: bool = False

    @staticmethod
    def from_json(value: Any) -> Commit | None:
        """The commit of a JSON object, None of null; raises TypeError when it is neither."""
        if value is None:
            return None
        return Commit(**typed(value, {"id": str, "changed": bool, "claimed": bool}))


@dataclass(frozen=True)
class Provenance:
    """Version and digest of the harness, the commit of the target (None when it is not known), Python and system."""

    harness: str
    sources: str
    target: Commit | None
    python: str
    system: str

    def to_json(self) -> dict[str, Any]:
        """The provenance as a JSON object."""
        return asdict(self)

    @staticmethod
    def from_json(value: dict[str, Any]) -> Provenance:
        """The inverse of `to_json`; raises KeyError or TypeError."""
        told = {**value, "target": Commit.from_json(value["target"])}
        kinds = dict.fromkeys(("harness", "sources", "python", "system"), str)
        return Provenance(**typed(told, {**kinds, "target": Commit | None}))


def typed(value: Any, kinds: Mapping[str, Any]) -> dict[str, Any]:
    """`value`, which has these keys, each with a value of its kind; raises TypeError when it has not."""
    if not isinstance(value, dict) or set(value) != set(kinds):
        raise TypeError(f"it does not have the keys {', '.join(kinds)}")
    for name, kind in kinds.items():
        if not isinstance(value[name], kind):
            raise TypeError(f"{name} has no such value")
    return value


def provenance_of(target: Target, claimed: str | None = None) -> Provenance:
    """What is to run now; `claimed` is the commit that a person says the target is made of.

    Raises UsageError when the target lies in a repository and is of another one.
    """
    return Provenance(
        harness=version("turnproof"),
        sources=sources_digest(),
        target=_commit(target, claimed),
        python=platform.python_version(),
        system=f"{platform.system()} {platform.machine()}",
    )


def sources_digest() -> str:
    """The digest over the harness's own files: library, suites and fixtures."""
    return digest(canonical({name: digest(path.read_bytes()) for name, path in _own_files()}))


def _own_files() -> Iterator[tuple[str, Path]]:
    for folder, names, files in os.walk(_PACKAGE, followlinks=True):
        names[:] = sorted(name for name in names if name not in ("__pycache__", "__snapshots__", "recordings"))
        for name in sorted(files):
            if name.endswith(_SOURCES):
                path = Path(folder, name)
                yield path.relative_to(_PACKAGE).as_posix(), path


def _commit(target: Target, claimed: str | None) -> Commit | None:
    seen = None if target.url is not None else commit_in(target.folder)
    if claimed is None:
        return seen
    if seen is not None and not matches(seen.id, claimed):
        message = f"the target's folder is at commit {seen.id}, not at {claimed}"
        raise UsageError(message, "Leave --commit out: turnproof sees it by itself, unless the target is a URL.")
    return seen or Commit(claimed, claimed=True)


def matches(commit: str, wanted: str) -> bool:
    """Whether `wanted`, which may be cut to seven digits or more, names the commit."""
    return len(wanted) >= 7 and commit.lower().startswith(wanted.lower())


def commit_in(folder: Path) -> Commit | None:
    """The commit that is checked out in a folder; None when it is in no repository, or one that ignores it."""
    if _git(folder, "check-ignore", "-q", str(folder.resolve())) is not None:
        return None
    id_, status = _git(folder, "rev-parse", "HEAD"), _git(folder, "status", "--porcelain")
    if not id_ or status is None:
        return None
    return Commit(id_, changed=bool(status))


def _git(folder: Path, *arguments: str) -> str | None:
    """What git says in a folder, without white space around it; None when it fails or is not there."""
    command: Sequence[str] = ("git", "-C", str(folder), *arguments)
    environment = {**os.environ, "GIT_OPTIONAL_LOCKS": "0"}
    try:
        told = subprocess.run(
            command, capture_output=True, text=True, timeout=_GIT_SECONDS, env=environment, check=True
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return told.stdout.strip()
