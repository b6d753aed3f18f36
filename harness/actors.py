"""The named actors through which, and only through which, a check touches the world.

Every call that reaches out carries a label that is unique for its actor in its check (see `harness.world`). In a
replay the live parts are absent (`running` is None) and nothing here touches them.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any, Protocol, TypeVar

from harness.check import NotMeasured
from harness.errors import HarnessError
from harness.exchange import Exchange, Hop, Request, request_to_json
from harness.fakes.model.script import SUMMARY, Answer, Rule
from harness.spoilt_keys import name_of_spoilt, spoilt
from harness.tap_script import TapRule
from harness.world import World, apply_view, view

L = TypeVar("L")

SETTLE = 0.06
"""Seconds in which nothing began on a hop, and the client neither asked nor was answered: then the hop is at rest."""

RESTLESS = 10.0
"""Seconds after which a hop that never comes to rest is read as it is: a target may ask without end."""


class Pending(Protocol):
    """A request under way in a live run."""

    def result(self) -> int:
        """Wait for its end; the exchange's number."""

    def leave(self) -> None:
        """Close the connection now."""


class Running(Protocol):
    """The live parts that actors use; `harness.launch` makes it."""

    def begin(self, request: Request, label: str) -> Pending:
        """Send a request to the target in the background."""

    def seen(self, hop: Hop) -> tuple[Exchange, ...]:
        """What a hop has carried in this check."""

    def wait(self, hop: Hop, until: Callable[[tuple[Exchange, ...]], bool], within: float) -> bool:
        """Wait until the exchanges on a hop are as wanted."""

    def calm(self, hop: Hop) -> float:
        """Seconds since a request last began on a hop, or one of the client's began or ended."""

    def observes(self, hop: Hop) -> bool:
        """Whether a hop can be seen, that is, a stand-in or a tap of ours is there."""

    def canaries(self) -> Mapping[str, str]:
        """Names and values of what no answer may hold: keys, passwords and addresses of the run."""

    def use_model_rules(self, rules: tuple[Rule, ...]) -> None:
        """What the model server says from now on."""

    def open_gate(self, name: str) -> None:
        """Let the model's answers go on that wait at the gate of that name."""

    def use_tap_rules(self, rules: tuple[TapRule, ...]) -> None:
        """What the tap in front of opencode does from now on."""

    def through_tap(self) -> str:
        """The base URL of a tap in front of the target, for clients with an HTTP stack of their own."""


def live_part(running: L | None) -> L:
    """The live parts; raises HarnessError in a replay, where nothing may reach for them."""
    if running is None:
        raise HarnessError("a replayed check reached for the live target")
    return running


class Call:
    """A request that was begun; its answer is had by `result`."""

    def __init__(self, world: World, label: str, asked: Any, pending: Pending | None) -> None:
        self._world, self._label, self._asked, self._pending = world, label, asked, pending

    def result(self) -> Exchange:
        """The exchange, once it is over."""
        seen = self._world.act("client", self._label, self._asked, self._finish)
        return self._world.exchange(seen["exchange"])

    def leave(self) -> Exchange:
        """Close the connection before the answer is whole; the exchange as far as it came."""
        if self._pending is not None:
            self._pending.leave()
        return self.result()

    def _finish(self) -> dict[str, int]:
        if self._pending is None:
            raise HarnessError("a replayed check reached for the live target")
        return {"exchange": self._pending.result()}


class Client:
    """Sends requests to the target; a key goes along in the authorization scheme `scheme`."""

    def __init__(self, world: World, running: Running | None, keys: Mapping[str, str], scheme: str = "Bearer") -> None:
        self._world, self._running, self._keys, self._scheme = world, running, keys, scheme

    def has(self, key: str) -> bool:
        """Whether the target gave a key of that name."""
        seen = self._world.act("client", f"has key {key}", key, lambda: {"present": key in self._keys})
        return bool(seen["present"])

    def secret(self, key: str) -> str:
        """The key itself, for headers that are not as they should be."""
        return self._keys[key]

    def spoilt(self, key: str, how: str) -> str | None:
        """The key as `harness.spoilt_keys` spoils it; None where it cannot be spoilt so."""
        asked = {"key": key, "spoilt": how}
        seen = self._world.act("client", f"{key} {how}", asked, lambda: {"there": how in spoilt(self._keys[key])})
        if not seen["there"]:
            return None
        return spoilt(self._keys[key])[how] if self._running else f"[secret:{name_of_spoilt(key, how)}]"

    def begin(self, label: str, request: Request, key: str | None = None) -> Call:
        """Send `request` with the target's key of that name in the background."""
        if key is not None:
            authorization = ("authorization", f"{self._scheme} {self._keys[key]}")
            request = Request(request.method, request.target, (*request.headers, authorization), request.body)
        pending = self._running.begin(request, label) if self._running else None
        return Call(self._world, label, request_to_json(request), pending)

    def send(self, label: str, request: Request, key: str | None = None) -> Exchange:
        """Send `request` and wait for the end of its answer."""
        return self.begin(label, request, key).result()

    def betrayed(self, label: str, exchange: Exchange) -> list[str]:
        """The names of those of the run's secrets and addresses that an answer holds.

        They are compared in the live run, where they are known, and their names are what is recorded.
        """
        asked = {"betrayed in": exchange.number}
        seen = self._world.act("client", label, asked, lambda: _names_in(exchange, live_part(self._running).canaries()))
        return [str(name) for name in seen]


def _names_in(exchange: Exchange, canaries: Mapping[str, str]) -> list[str]:
    answer = "\n".join([*(value for _, value in exchange.headers), exchange.text])
    return [name for name, word in canaries.items() if word in answer]


class Script:
    """Says what the stand-ins will answer. Raises NotMeasured where no stand-in is behind the target."""

    def __init__(self, world: World, running: Running | None) -> None:
        self._world, self._running = world, running
        self._model: tuple[Rule, ...] = ()
        self._tap: tuple[TapRule, ...] = ()

    def reaches(self, label: str, hop: Hop) -> bool:
        """Whether a stand-in or tap of ours is on the hop, for checks that can do without."""
        seen = self._world.act("script", label, hop, lambda: {"present": live_part(self._running).observes(hop)})
        return bool(seen["present"])

    def answer(self, label: str, *steps: Answer, nonce: str | None = None, summary: Answer = SUMMARY) -> None:
        """The model's answers, step by step, to prompts that hold `nonce` (to any prompt when None)."""
        self._model += (Rule(nonce, steps, summary),)
        asked = self._model[-1].to_json()
        self._put(label, asked, "model", lambda: live_part(self._running).use_model_rules(self._model))

    def tamper(self, label: str, *rules: TapRule) -> None:
        """What the tap in front of opencode does."""
        self._tap += rules
        asked = [rule.to_json() for rule in rules]
        self._put(label, asked, "opencode", lambda: live_part(self._running).use_tap_rules(self._tap))

    def open(self, label: str, gate: str) -> None:
        """Let the answers go on that wait at `gate`."""
        self._put(label, gate, "model", lambda: live_part(self._running).open_gate(gate))

    def desist(self, label: str) -> None:
        """From here on the tap lets everything pass."""
        self._tap = ()
        self._put(label, [], "opencode", lambda: live_part(self._running).use_tap_rules(self._tap))

    def _put(self, label: str, asked: Any, hop: Hop, put: Callable[[], None]) -> None:
        def perform() -> dict[str, bool]:
            present = live_part(self._running).observes(hop)
            if present:
                put()
            return {"present": present}

        if not self._world.act("script", label, asked, perform)["present"]:
            raise NotMeasured(f"no stand-in of ours is behind the target on the {hop} hop")


class JournalReader:
    """Reads what the hops behind the target carried in this check. Raises NotMeasured for a hop nobody watches."""

    def __init__(self, world: World, running: Running | None) -> None:
        self._world, self._running = world, running

    def read(self, label: str, hop: Hop) -> tuple[Exchange, ...]:
        """The hop's exchanges, once it is at rest, or as they are when it never is."""
        return self._look(label, hop, f"read {hop}", lambda: self._settle(hop))

    def wait(
        self, label: str, hop: Hop, until: Callable[[tuple[Exchange, ...]], bool], within: float
    ) -> tuple[Exchange, ...]:
        """The hop's exchanges as soon as `until` holds of them, or as they are after `within` seconds."""
        return self._look(label, hop, f"wait {hop}", lambda: live_part(self._running).wait(hop, until, within))

    def _settle(self, hop: Hop) -> None:
        running, end = live_part(self._running), time.monotonic() + RESTLESS
        while (rest := SETTLE - running.calm(hop)) > 0 and time.monotonic() < end:
            running.wait(hop, _longer_than(len(running.seen(hop))), rest)

    def _look(self, label: str, hop: Hop, asked: str, until: Callable[[], object]) -> tuple[Exchange, ...]:
        def perform() -> list[list[Any]] | None:
            running = live_part(self._running)
            if not running.observes(hop):
                return None
            until()
            return [view(exchange) for exchange in running.seen(hop)]

        seen = self._world.act("journal", label, asked, perform)
        if seen is None:
            raise NotMeasured(f"nobody watches the {hop} hop behind the target")
        return tuple(apply_view(self._world.exchange(entry[0]), entry) for entry in seen)


def _longer_than(count: int) -> Callable[[tuple[Exchange, ...]], bool]:
    return lambda seen: len(seen) > count


class Clock:
    """Lets time pass."""

    def __init__(self, world: World) -> None:
        self._world = world

    def sleep(self, label: str, seconds: float) -> None:
        """Wait so many seconds; a replay does not wait."""
        self._world.act("clock", label, seconds, lambda: time.sleep(seconds))
