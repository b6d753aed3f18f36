"""A recorded run whose target says that it is another version: what its checks, made again, then hold it to.

Where versions differ, a check holds a target to what its own version was recorded to do. Held to the version before it,
a run shows what became different since then: the checks that no longer come to a pass, each with the exchange.
"""

from __future__ import annotations

import json
from dataclasses import replace

from harness import kilo_recorded
from harness.errors import HarnessError
from harness.exchange import Chunk, Exchange
from harness.replay import Replayed, replay
from harness.results import Act, CheckResult, Results
from harness.verdict import Summary, summarise

_KILO_SUITE = "kilo_cli"
_HEALTH = "/global/health"


def is_known(suite: str, version: str) -> bool:
    """Whether it is known what a target of that version is held to; of a Kilo CLI only where it was recorded."""
    return suite != _KILO_SUITE or version in kilo_recorded.versions()


def held_to(results: Results, version: str) -> Summary:
    """What a finished run comes to when its target is held to what `version` does.

    Raises what `harness.replay.replay` raises.
    """
    replayed = replay(claiming(results, version))
    return summarise(replace(results, checks=tuple(map(_result, replayed))))


def claiming(results: Results, version: str) -> Results:
    """The record of a run in which the target said that it was `version`, wherever a check asked it."""
    return replace(
        results,
        acts=tuple(_act(act, version) for act in results.acts),
        exchanges={number: _exchange(exchange, version) for number, exchange in results.exchanges.items()},
    )


def _act(act: Act, version: str) -> Act:
    asked = (act.actor, act.label) == ("kilo", "version")
    return replace(act, seen={"version": version}) if asked else act


def _exchange(exchange: Exchange, version: str) -> Exchange:
    body = exchange.json() if exchange.hop == "client" and exchange.request.path == _HEALTH else None
    if not isinstance(body, dict) or "version" not in body:
        return exchange
    # One chunk as before: how many there were is part of what a check saw.
    first, *rest = exchange.chunks
    told = json.dumps({**body, "version": version}).encode()
    return replace(exchange, chunks=(Chunk(first.at, told), *(Chunk(chunk.at, b"") for chunk in rest)))


def _result(check: Replayed) -> CheckResult:
    if check.again is not None:
        return check.again
    if check.recorded is None:
        raise HarnessError(f"the run has no result of {check.check}", "hold runs that finished")
    return replace(check.recorded, verdict="error", finding=None, reason="it cannot be made again")
