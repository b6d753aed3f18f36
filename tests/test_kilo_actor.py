from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from harness.actors import JournalReader, Script
from harness.engine import Engine
from harness.errors import HarnessError
from harness.exchange import Chunk, Exchange, Hop, Request
from harness.fakes.kilo.rules import NEWEST
from harness.kilo_actor import Kilo
from harness.kilo_cli import Cli, Going, Start
from harness.kilo_desk import KiloDesk
from harness.kilo_starts import PLAIN, REFUSED, TOOLS
from harness.world import LiveWorld, RecordedWorld, World, derive_nonce

NONCE = derive_nonce("seed", "first", f"{PLAIN.name} asked")


class NotingScript(Script):
    def __init__(self, world: World, order: list[str]) -> None:
        super().__init__(world, None)
        self._order = order

    def answer(self, label: str, *_: Any, **__: Any) -> None:
        self._order.append("answer")


class NotingCli(Cli):
    def __init__(self, engine: Engine, work: Path, order: list[str]) -> None:
        super().__init__(engine, ["true"], work, "http://127.0.0.1:9/v1")
        self._order = order

    def begin(self, start: Start) -> Going:
        self._order.append("begin")
        return super().begin(start)


class SilentJournal(JournalReader):
    def wait(self, label: str, hop: Hop, until: Callable[..., bool], within: float) -> tuple[Exchange, ...]:
        return ()


class OneCall(SilentJournal):
    """A model server that was called once, with the nonce of the plain turn of the check `first`."""

    call = Exchange(
        7,
        "model",
        Request("POST", "/v1", (), b'{"messages": [{"role": "user", "content": "%s"}]}' % NONCE.encode()),
        0.0,
        status=200,
        chunks=(Chunk(0.1, b"answer"),),
        end="complete",
        duration=0.2,
    )

    def wait(self, label: str, hop: Hop, until: Callable[..., bool], within: float) -> tuple[Exchange, ...]:
        return (self.call,)


def look_up(number: int) -> Exchange:
    raise AssertionError(number)


def test_all_answers_are_set_before_the_first_start(engine: Engine, tmp_path: Path) -> None:
    world, order = LiveWorld("check", "seed", look_up), list[str]()
    with NotingCli(engine, tmp_path, order) as cli:
        kilo = Kilo(world, KiloDesk(cli, NEWEST), NotingScript(world, order), SilentJournal(world, None), 10.0)
        plays = kilo.play(PLAIN, TOOLS, REFUSED)
    assert order == ["answer"] * 3 + ["begin"] * 3
    assert [played.ran.status for played in plays] == [0, 0, 0]
    assert len({word for played in plays for word in played.words.values()}) == 6


def test_what_was_seen_is_seen_again_without_a_cli(engine: Engine, tmp_path: Path) -> None:
    live = LiveWorld("check", "seed", look_up)
    with NotingCli(engine, tmp_path, []) as cli:
        kilo = Kilo(live, KiloDesk(cli, NEWEST), NotingScript(live, []), SilentJournal(live, None), 10.0)
        (before,) = kilo.play(PLAIN)
    again = RecordedWorld("check", "seed", {(act.actor, act.label): act for act in live.acts}, {})
    replayed = Kilo(again, None, NotingScript(again, []), SilentJournal(again, None), 10.0)
    (after,) = replayed.play(PLAIN)
    assert after == before
    with pytest.raises(HarnessError):
        replayed.play(TOOLS)


def test_what_an_earlier_check_played_is_not_started_again(engine: Engine, tmp_path: Path) -> None:
    order: list[str] = []
    first, second = LiveWorld("first", "seed", look_up), LiveWorld("second", "seed", look_up)
    with NotingCli(engine, tmp_path, order) as cli:
        desk = KiloDesk(cli, NEWEST)
        (before,) = Kilo(first, desk, NotingScript(first, order), OneCall(first, None), 10.0).play(PLAIN)
        again, other = Kilo(second, desk, NotingScript(second, order), OneCall(second, None), 10.0).play(PLAIN, TOOLS)
    assert order == ["answer", "begin"] * 2
    assert (again, again.calls) == (before, (OneCall.call,))
    assert other.words != before.words


def test_what_an_earlier_check_played_is_seen_again_without_a_cli(engine: Engine, tmp_path: Path) -> None:
    first, second = LiveWorld("first", "seed", look_up), LiveWorld("second", "seed", look_up)
    with NotingCli(engine, tmp_path, []) as cli:
        desk = KiloDesk(cli, NEWEST)
        Kilo(first, desk, NotingScript(first, []), OneCall(first, None), 10.0).play(PLAIN)
        (before,) = Kilo(second, desk, NotingScript(second, []), OneCall(second, None), 10.0).play(PLAIN)
    acts = {(act.actor, act.label): replace(act, seen=json.loads(json.dumps(act.seen))) for act in second.acts}
    recorded = RecordedWorld("second", "seed", acts, {OneCall.call.number: OneCall.call})
    (after,) = Kilo(recorded, None, NotingScript(recorded, []), SilentJournal(recorded, None), 10.0).play(PLAIN)
    assert after == before
    assert after.calls == (OneCall.call,)
