"""What the agent asks and waits to be answered: permissions, and questions to the user."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from harness.fakes.opencode.ids import new_id
from harness.fakes.opencode.rules import Rule, decided

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

    def is_allowed(self, rules: Sequence[Rule]) -> bool:
        """Whether rules allow the permission that is asked for, for all that it is wanted for."""
        wanted = self.listed["patterns"]
        return all(decided(rules, self.listed["permission"], pattern) == "allow" for pattern in wanted)


class Questions:
    """The open questions; one that nobody answers stays, even after its turn was aborted.

    What was allowed for always in a directory is kept, for as long as the server lives. Unless
    `per_directory`, the questions of all directories are those of each.
    """

    def __init__(self, per_directory: bool = True) -> None:
        self._per_directory = per_directory
        self._open: dict[str, Asked] = {}
        self._always: defaultdict[str, list[Rule]] = defaultdict(list)

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

    def take_rejected(self, session: str) -> list[Asked]:
        """Close the permissions that a session still asks for once one of them was refused, and hand them over."""
        return self._taken(self._permissions(session))

    def take_allowed(self, session: str, directory: str) -> list[Asked]:
        """Close the permissions that a session still asks for and that are allowed for always, and hand them over."""
        rules = self._always[directory]
        return self._taken([asked for asked in self._permissions(session) if asked.is_allowed(rules)])

    def allow_always(self, asked: Asked) -> None:
        """Do not ask any more for what is like `asked`."""
        allowed = [
            {"permission": asked.listed["permission"], "pattern": pattern, "action": "allow"}
            for pattern in asked.listed["always"]
        ]
        self._always[asked.directory] += allowed

    def allowed_always(self, directory: str) -> tuple[Rule, ...]:
        """What was allowed for always in a directory, as rules."""
        return tuple(self._always[directory])

    def _permissions(self, session: str) -> list[Asked]:
        of_session = (asked for asked in self._open.values() if asked.listed["sessionID"] == session)
        return [asked for asked in of_session if asked.kind == "permission"]

    def _taken(self, some: Iterable[Asked]) -> list[Asked]:
        return [self._open.pop(asked.id) for asked in some]
