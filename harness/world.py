"""How a check's actors reach the world: a live one that is recorded, or a recorded one that is played again.

Each act of a check is named by its actor and a label that is unique for it. A live world performs the act and keeps
what was asked and seen; a recorded world compares what is asked with the record and shows what was seen then.
Matching by label and content, and not by the order of calls, is what makes concurrent checks replay.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Protocol

from harness.errors import HarnessError
from harness.exchange import Exchange
from harness.results import Act

_NONCE = re.compile(rb"tp[a-p]{20}")


class World(Protocol):
    """What actors stand on."""

    @property
    def check(self) -> str:
        """The id of the check at hand."""

    def nonce(self, label: str) -> str:
        """A random word for `label`, the same whenever the run is played again."""

    def act(self, actor: str, label: str, asked: Any, perform: Callable[[], Any]) -> Any:
        """What `perform` returned, as a JSON value: now, or when the run was recorded."""

    def exchange(self, number: int) -> Exchange:
        """The exchange of that number."""


class ReplayMismatch(HarnessError):
    """A recorded check asked for something else than it did when it was recorded."""


def derive_nonce(seed: str, check: str, label: str) -> str:
    """A word of 22 lower-case letters that depends on all three and looks like no other word."""
    digest = hmac.digest(seed.encode(), f"{check}\0{label}".encode(), hashlib.sha256)
    return "tp" + "".join(chr(ord("a") + (byte & 15)) for byte in digest[:20])


def nonces_in(data: bytes) -> set[str]:
    """All words in `data` that look like nonces."""
    return {match.decode() for match in _NONCE.findall(data)}


class LiveWorld:
    """Performs acts and keeps them. `look_up` finds an exchange of the current window."""

    def __init__(self, check: str, seed: str, look_up: Callable[[int], Exchange]) -> None:
        self.check = check
        self.acts: list[Act] = []
        self.nonces: set[str] = set()
        self._seed = seed
        self._look_up = look_up
        self._taken: set[tuple[str, str]] = set()

    def nonce(self, label: str) -> str:
        """Part of `World`."""
        self.nonces.add(derive_nonce(self._seed, self.check, label))
        return derive_nonce(self._seed, self.check, label)

    def act(self, actor: str, label: str, asked: Any, perform: Callable[[], Any]) -> Any:
        """Part of `World`; raises HarnessError when the label is taken."""
        if (actor, label) in self._taken:
            raise HarnessError(
                f"{self.check}: the {actor} has used the label {label!r} before", "name the act otherwise"
            )
        self._taken.add((actor, label))
        seen = perform()
        self.acts.append(Act(self.check, actor, label, asked, seen))
        return seen

    def exchange(self, number: int) -> Exchange:
        """Part of `World`."""
        return self._look_up(number)


class RecordedWorld:
    """Shows what a recorded check saw, without a target."""

    def __init__(
        self, check: str, seed: str, acts: Mapping[tuple[str, str], Act], exchanges: Mapping[int, Exchange]
    ) -> None:
        self.check = check
        self._seed = seed
        self._acts = acts
        self._exchanges = exchanges

    def nonce(self, label: str) -> str:
        """Part of `World`."""
        return derive_nonce(self._seed, self.check, label)

    def act(self, actor: str, label: str, asked: Any, perform: Callable[[], Any]) -> Any:
        """Part of `World`; raises ReplayMismatch when nothing, or something else, was asked when it was recorded."""
        act = self._acts.get((actor, label))
        if act is None:
            raise ReplayMismatch(f"{self.check}: the record holds no act {label!r} of the {actor}")
        if json.loads(json.dumps(asked)) != act.asked:
            raise ReplayMismatch(f"{self.check}: the {actor} asked something else at {label!r} when it was recorded")
        return act.seen

    def exchange(self, number: int) -> Exchange:
        """Part of `World`; raises ReplayMismatch when the record lacks it."""
        try:
            return self._exchanges[number]
        except KeyError as error:
            raise ReplayMismatch(f"{self.check}: the record lacks exchange {number}") from error


def view(exchange: Exchange) -> list[Any]:
    """How far an exchange had come when it was looked at: number, status, number of chunks, end, duration."""
    return [exchange.number, exchange.status, len(exchange.chunks), exchange.end, exchange.duration]


def apply_view(exchange: Exchange, seen: list[Any]) -> Exchange:
    """The exchange as it was when `seen` was taken by `view`."""
    _, status, chunks, end, duration = seen
    headers = exchange.headers if status is not None else ()
    return replace(
        exchange, status=status, headers=headers, chunks=exchange.chunks[:chunks], end=end, duration=duration
    )
