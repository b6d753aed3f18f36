"""What a run's checks are made against: a live target, or the record of a finished run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol

from harness.actors import Running
from harness.exchange import Exchange, exchange_to_json
from harness.key_desk import KeyDesk
from harness.kilo_desk import KiloDesk
from harness.launch import Launch
from harness.launcher import Again
from harness.opencode_processes import Processes
from harness.presence import lost
from harness.results import CheckResult, Finding, Results
from harness.signature import signature_of
from harness.target import Facts
from harness.telling import conceal_with
from harness.world import LiveWorld, RecordedWorld, World, nonces_in

_OUTPUT_CHARACTERS = 4000


@dataclass(frozen=True)
class Context:
    """What the actors of one check stand on. All but the first three are None in a replay, and `desk` also for a target
    that does not tell how its keys are managed, `again` for one that does not start the opencode of ours, `servers` for
    one that is no opencode, `kilo` for one that is no Kilo CLI. `captures` is where a model server keeps captured
    calls."""

    world: World
    facts: Facts
    keys: Mapping[str, str]
    running: Running | None
    desk: KeyDesk | None = None
    again: Again | None = None
    servers: Processes | None = None
    captures: Path | None = None
    kilo: KiloDesk | None = None


class Subject(Protocol):
    """Gives each check its context, and takes back its result."""

    def begin(self, check: str) -> Context:
        """The context of a check that begins now."""

    def end(self, context: Context, result: CheckResult) -> list[dict[str, Any]]:
        """The records that a check leaves in the results file, without secrets."""

    def stays_up(self) -> None:
        """Raise TargetNotReady when the target was lost in the check that ended last."""


class LiveSubject:
    """A launched target; its checks are recorded."""

    def __init__(self, launch: Launch, seed: str) -> None:
        self._launch, self._seed = launch, seed
        self._last: tuple[Exchange, ...] = ()

    def begin(self, check: str) -> Context:
        """Part of `Subject`."""
        launch, live = self._launch, self._launch.live
        conceal_with(launch.redactor.redact)
        launch.hearing.open_window()
        return Context(
            LiveWorld(check, self._seed, live.find),
            launch.target.facts,
            live.keys,
            live,
            desk=launch.desk,
            again=launch.again,
            servers=launch.servers,
            captures=launch.captures,
            kilo=launch.kilo,
        )

    def end(self, context: Context, result: CheckResult) -> list[dict[str, Any]]:
        """Part of `Subject`: closes the journal's window."""
        world = context.world
        assert isinstance(world, LiveWorld)
        output = self._output(result)
        if self._launch.servers is not None:
            self._launch.servers.close()
        if self._launch.kilo is not None:
            self._launch.kilo.cli.settle()
        self._last = exchanges = self._launch.live.close_window().exchanges
        stray = {exchange.number for exchange in exchanges if is_stray(exchange, world.nonces)}
        own = tuple(exchange.number for exchange in exchanges if exchange.number not in stray)
        records = [_exchange_record(exchange, result.check, exchange.number in stray) for exchange in exchanges]
        records += [act.to_json() for act in world.acts]
        records.append(replace(result, exchanges=own).to_json())
        *others, last = _signed([self._launch.redactor.redact_record(record) for record in records])
        return [*others, {**last, "output": output} if output else last]

    def _output(self, result: CheckResult) -> str:
        """The end of what the target wrote during a check that did not pass; secrets are replaced before it is cut."""
        if result.verdict not in ("fail", "inconclusive", "error"):
            return ""
        return self._launch.redactor.redact(self._launch.hearing.text())[-_OUTPUT_CHARACTERS:]

    def stays_up(self) -> None:
        """Part of `Subject`."""
        if (error := lost(self._launch, self._last)) is not None:
            raise error


class RecordedSubject:
    """A recorded run, whose checks are made again without a target. Keys are the placeholders of their secrets."""

    def __init__(self, results: Results) -> None:
        self._results = results
        self._acts = {(act.check, act.actor, act.label): act for act in results.acts}

    def begin(self, check: str) -> Context:
        """Part of `Subject`."""
        conceal_with(str)
        header = self._results.header
        acts = {(actor, label): act for (of, actor, label), act in self._acts.items() if of == check}
        world = RecordedWorld(check, header.seed_of(check), acts, self._results.exchanges)
        return Context(world, header.target, {key.name: f"[secret:key.{key.name}]" for key in header.target.keys}, None)

    def end(self, context: Context, result: CheckResult) -> list[dict[str, Any]]:
        """Part of `Subject`."""
        return _signed([result.to_json()])

    def stays_up(self) -> None:
        """Part of `Subject`: what is on record does not go away."""


def _signed(records: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The records of a check, whose result is the last: a failure gets its signature, made of what is on record."""
    *others, result = records
    finding = result["finding"]
    return [*others, {**result, "signature": signature_of(Finding(**finding)) if finding else None}]


def is_stray(exchange: Exchange, nonces: set[str]) -> bool:
    """Whether an exchange behind the target carries only nonces of other checks, and so came late."""
    found = nonces_in(exchange.request.body)
    return exchange.hop != "client" and bool(found) and found.isdisjoint(nonces)


def _exchange_record(exchange: Exchange, check: str, stray: bool) -> dict[str, Any]:
    return {"record": "exchange", "check": check, "stray": stray, **exchange_to_json(exchange)}
