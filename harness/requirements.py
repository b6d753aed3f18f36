"""The catalogue of requirements, read from `suites/<suite>/requirements.toml`."""

from __future__ import annotations

import tomllib
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from harness.errors import HarnessError, UsageError

Level = Literal["MUST", "SHOULD", "MAY"]

SUITES = Path(__file__).parent / "suites"


@dataclass(frozen=True)
class Requirement:
    """A row of the contract. `sources` are the letters of `docs/requirements.md`; `capability` limits whom it binds."""

    id: str
    level: Level
    statement: str
    sources: tuple[str, ...]
    capability: str | None = None

    @property
    def group(self) -> str:
        """The id's middle part: `AE-AUTH-1` is of group `AUTH`."""
        return self.id.split("-")[1]

    def to_json(self) -> dict[str, Any]:
        """The requirement as a JSON object."""
        return {**asdict(self), "sources": list(self.sources)}

    @staticmethod
    def from_json(value: dict[str, Any]) -> Requirement:
        """The inverse of `to_json`; raises KeyError when a field is missing."""
        return Requirement(
            value["id"], value["level"], value["statement"], tuple(value["sources"]), value.get("capability")
        )


def suites() -> tuple[str, ...]:
    """The names of all suites, sorted."""
    return tuple(sorted(path.parent.name for path in SUITES.glob("*/requirements.toml")))


def suite_folder(name: str) -> Path:
    """The folder of suite `name`; raises UsageError naming the known ones."""
    if name not in suites():
        raise UsageError(f"no suite is called {name!r}", f"the suites are: {', '.join(suites())}")
    return SUITES / name


def catalogue(suite: str) -> tuple[Requirement, ...]:
    """All requirements of `suite` in the order of its file; raises UsageError for an unknown suite."""
    path = suite_folder(suite) / "requirements.toml"
    entries: dict[str, dict[str, Any]] = tomllib.loads(path.read_text(encoding="utf-8"))
    try:
        return tuple(Requirement.from_json({"id": id_, **entry}) for id_, entry in entries.items())
    except KeyError as error:
        raise HarnessError(f"{path.name} of suite {suite}: a requirement lacks {error}") from error
