"""The actor that manages keys at the target. The secrets it comes by are made known before anything is written."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from harness.actors import Running
from harness.check import Inconclusive, NotMeasured
from harness.errors import HarnessError
from harness.exchange import Exchange, Request
from harness.key_desk import By, KeyDesk
from harness.telling import beginning
from harness.world import World


@dataclass(frozen=True)
class Minted:
    """The answer to a mint request, with the secret and the id of the key in it, where there are such.

    `lifetime` is in seconds, None for a key that was not to expire.
    """

    exchange: Exchange
    secret: str | None
    id: str | None
    lifetime: float | None


class Minter:
    """Mints, lists and revokes keys. Raises NotMeasured for what the target's description does not tell.

    In the record of a run a minted secret is a placeholder, in the answer, in later requests and in what this actor
    saw alike, so that a replay finds the same everywhere.
    """

    def __init__(self, world: World, running: Running | None, desk: KeyDesk | None, keys: Mapping[str, str]) -> None:
        self._world, self._running, self._desk, self._keys = world, running, desk, keys

    def mint(
        self, label: str, agent_ids: Any, by: By = "owner", expiring: bool = False, key: str | None = None
    ) -> Minted:
        """Ask for a key for `agent_ids`; `key` names a model key of the target that is shown as a token instead."""
        secret = None if key is None else self._keys[key]

        def perform(desk: KeyDesk) -> dict[str, Any] | None:
            request = desk.mint(agent_ids, by, expiring, secret)
            if request is None:
                return None
            exchange = self._send(request, label)
            minted, key_id = desk.minted(label, exchange.json())
            lifetime = desk.lifetime if expiring else None
            return {"exchange": exchange.number, "secret": minted, "id": key_id, "lifetime": lifetime}

        asked = {"mint": agent_ids, "by": by, "expiring": expiring, "key": key}
        wanted = " and ".join(["[mint]", *["agent_headers"] * (by == "agent"), *["expiring"] * expiring])
        seen = self._act(label, asked, perform, wanted)
        return Minted(self._world.exchange(seen["exchange"]), seen["secret"], seen["id"], seen["lifetime"])

    def list(self, label: str) -> tuple[Exchange, int]:
        """The answer to the owner's request for the list of keys, and how many are in it."""

        def perform(desk: KeyDesk) -> dict[str, Any] | None:
            request = desk.list()
            if request is None:
                return None
            exchange = self._send(request, label)
            return {"exchange": exchange.number, "count": desk.listed(exchange.json())}

        seen = self._act(label, "list", perform, "[mint.list]")
        exchange = self._world.exchange(seen["exchange"])
        if seen["count"] is None:
            raise Inconclusive(
                f"no list of keys where [mint.list] says: {exchange.status} {beginning(exchange.text, 200)}"
            )
        return exchange, seen["count"]

    def revoke(self, label: str, minted: Minted) -> Exchange:
        """The answer to the owner's request that ends a key."""

        def perform(desk: KeyDesk) -> dict[str, Any] | None:
            request = desk.revoke(minted.secret or "", minted.id)
            return None if request is None else {"exchange": self._send(request, label).number}

        seen = self._act(label, {"revoke": minted.secret}, perform, "[mint.revoke]")
        return self._world.exchange(seen["exchange"])

    def is_stored_in_clear(self, label: str, secret: str) -> bool:
        """Whether the target's store holds `secret` as it is."""

        def perform(desk: KeyDesk) -> dict[str, Any] | None:
            found = desk.stored(secret)
            return None if found is None else {"found": found}

        seen = self._act(label, {"stored": secret}, perform, "store in [mint]")
        if seen["found"] == "no store":
            raise Inconclusive("there is nothing at the path that [mint] gives for the store")
        return bool(seen["found"] == "in clear")

    def _send(self, request: Request, label: str) -> Exchange:
        if self._running is None:
            raise HarnessError("a replayed check reached for the live target")
        return self._world.exchange(self._running.begin(request, label).result())

    def _act(
        self, label: str, asked: Any, perform: Callable[[KeyDesk], dict[str, Any] | None], wanted: str
    ) -> dict[str, Any]:
        def at_desk() -> dict[str, Any] | None:
            return None if self._desk is None else perform(self._desk)

        seen: dict[str, Any] | None = self._world.act("minter", label, asked, at_desk)
        if seen is None:
            raise NotMeasured(f"the target file does not tell it: add {wanted}")
        return seen
