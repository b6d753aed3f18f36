"""A cell: the unit that a run can be cut into, and that is run on one machine: a suite on a target, or a shard."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from harness.errors import UsageError

_SHARD = re.compile(r"([1-9][0-9]{0,3})/([1-9][0-9]{0,3})")


@dataclass(frozen=True, order=True)
class Shard:
    """One of `count` parts of a suite's checks, counted from 1; `1/1` is all of them."""

    number: int = 1
    count: int = 1

    def __str__(self) -> str:
        return f"{self.number}/{self.count}"

    @property
    def whole(self) -> bool:
        """Whether it is all there is."""
        return self.count == 1

    @staticmethod
    def parse(text: str) -> Shard:
        """The shard that `text` names, such as `2/5`; raises UsageError when it names none."""
        found = _SHARD.fullmatch(text)
        shard = Shard(*map(int, found.groups())) if found else None
        if shard is None or shard.number > shard.count:
            raise UsageError(f"{text!r} is no shard", "write the second of five as 2/5")
        return shard


WHOLE = Shard()


@dataclass(frozen=True)
class Cell:
    """A suite, the target that it judges, by name, and the shard of its checks."""

    suite: str
    target: str
    shard: Shard = WHOLE

    def __str__(self) -> str:
        cell = f"{self.suite} of {self.target}"
        return cell if self.shard.whole else f"{cell}, shard {self.shard}"

    @property
    def slug(self) -> str:
        """The cell as the name of a folder; cells that differ in letters or digits have different ones."""
        cut = "" if self.shard.whole else f"-{self.shard.number}of{self.shard.count}"
        return re.sub(r"[^A-Za-z0-9.@_]+", "-", f"{self.suite}-{self.target}") + cut


@dataclass(frozen=True)
class Plan:
    """All that the shards of a run come to together: the ids of its checks and of its requirements, in their order."""

    checks: tuple[str, ...]
    requirements: tuple[str, ...]


@dataclass(frozen=True)
class Piece:
    """A run that was merged into another: its shard, its own id, seed and beginning, and the ids of its checks."""

    shard: Shard
    run: str
    seed: str
    started: str
    checks: tuple[str, ...]


@dataclass(frozen=True)
class Share:
    """What a results file is of a run on several machines.

    `digest` tells one target's description from another's. `plan` is that of all shards; None when there is but one.
    `pieces` are the runs that a merged file was made of.
    """

    digest: str
    shard: Shard = WHOLE
    plan: Plan | None = None
    pieces: tuple[Piece, ...] = ()

    def __str__(self) -> str:
        if self.pieces:
            return f"merged of {len(self.pieces)} shards"
        return "" if self.shard.whole else f"shard {self.shard}"

    def to_json(self) -> dict[str, Any]:
        """The share as a JSON object."""
        return {
            "digest": self.digest,
            "shard": str(self.shard),
            "plan": self.plan and {"checks": list(self.plan.checks), "requirements": list(self.plan.requirements)},
            "pieces": [
                {**vars(piece), "shard": str(piece.shard), "checks": list(piece.checks)} for piece in self.pieces
            ],
        }

    @staticmethod
    def from_json(value: dict[str, Any]) -> Share:
        """The inverse of `to_json`; raises UsageError for what is no shard."""
        plan = value["plan"]
        return Share(
            value["digest"],
            Shard.parse(value["shard"]),
            Plan(tuple(plan["checks"]), tuple(plan["requirements"])) if plan else None,
            tuple(
                Piece(Shard.parse(p["shard"]), p["run"], p["seed"], p["started"], tuple(p["checks"]))
                for p in value["pieces"]
            ),
        )
