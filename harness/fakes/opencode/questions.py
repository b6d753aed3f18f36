"""What the agent asks and waits to be answered: permissions, and questions to the user."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import Any, Literal

from harness.fakes.opencode.ids import new_id

Kind = Literal["permission", "question"]


@dataclass
class Asked:
    """An open question: how it is listed, where, and the answer that its asker waits for."""

    kind: Kind
    directory: str
    listed: dict[str, Any]
    answer: asyncio.Future[dict[str, Any]] = field(default_factory=lambda: asyncio.get_running_loop().create_future())

    @property
    def id(self) -> str:
        """The question's id."""
        return str(self.listed["id"])


class Questions:
    """The open questions; one that nobody answers stays, even after its turn was aborted.

    Unless `per_directory`, those of all directories are those of each.
    """

    def __init__(self, per_directory: bool = True) -> None:
        self._per_directory = per_directory
        self._open: dict[str, Asked] = {}

    def ask(self, kind: Kind, directory: str, listed: dict[str, Any]) -> Asked:
        """Open a question."""
        prefix = "per" if kind == "permission" else "que"
        asked = Asked(kind, directory, {"id": new_id(prefix), **listed})
        self._open[asked.id] = asked
        return asked

    def listed(self, kind: Kind, directory: str) -> list[dict[str, Any]]:
        """The open questions of a kind in a directory."""
        return [a.listed for a in self._open.values() if a.kind == kind and self._is_in(a, directory)]

    def take(self, kind: Kind, id_: str, directory: str | None) -> Asked | None:
        """Close the question of that id in that directory (in any, when None), and hand it over."""
        asked = self._open.get(id_)
        if asked is None or asked.kind != kind or not (directory is None or self._is_in(asked, directory)):
            return None
        return self._open.pop(id_)

    def _is_in(self, asked: Asked, directory: str) -> bool:
        return asked.directory == directory or not self._per_directory


def is_allowed(rules: list[dict[str, str]], permission: str, pattern: str, default: str) -> str:
    """`allow`, `ask` or `deny`: what the last rule that speaks of it says."""
    action = default
    for rule in rules:
        if rule["permission"] in ("*", permission) and rule["pattern"] in ("*", pattern):
            action = rule["action"]
    return action
