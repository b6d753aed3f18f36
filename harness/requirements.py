"""The catalogue of requirements, read from `suites/<suite>/requirements.toml`."""

from __future__ import annotations

import re
import tomllib
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal, get_args

from harness.errors import HarnessError, UsageError

Level = Literal["MUST", "SHOULD", "MAY"]

SUITES = Path(__file__).parent / "suites"

_ID = re.compile(r"[A-Z0-9]+-[A-Z0-9]+-[A-Za-z0-9]+")


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
        """The inverse of `to_json`; raises KeyError when a field is missing and ValueError for a wrong id or level."""
        if not _ID.fullmatch(value["id"]):
            raise ValueError(f"the id {value['id']!r} is not like AE-AUTH-1")
        if value["level"] not in get_args(Level):
            raise ValueError(
                f"the level of {value['id']} is {value['level']!r}, not one of {', '.join(get_args(Level))}"
            )
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
    """All requirements of `suite` in the order of its file.

    Raises UsageError for an unknown suite and HarnessError when its file is not a catalogue.
    """
    path = suite_folder(suite) / "requirements.toml"
    try:
        entries = tomllib.loads(path.read_text(encoding="utf-8"))
        return tuple(Requirement.from_json({**entry, "id": id_}) for id_, entry in entries.items())
    except KeyError as error:
        raise HarnessError(f"{path.name} of suite {suite}: a requirement lacks {error}") from error
    except (ValueError, TypeError) as error:
        raise HarnessError(f"{path.name} of suite {suite}: {error}") from error
