from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from harness import actors
from harness.actors import Client, Clock, JournalReader, Script
from harness.chat import ask
from harness.check import NotMeasured
from harness.engine import Engine
from harness.errors import HarnessError
from harness.exchange import Exchange, Hop, Request
from harness.fakes.http import Wire
from harness.fakes.model.script import Answer, Rule
from harness.journal import Journal
from harness.results import CheckResult
from harness.subject import Context, LiveSubject, RecordedSubject
from harness.tap_script import Reply, TapRule
from harness.world import LiveWorld, RecordedWorld, ReplayMismatch
from tests.staging import answer, launch_at, recorded, serving

CHECK = "c"
RESULT = CheckResult(CHECK, ("AE-AUTH-1",), "pass", 0.1)
GET = Request("GET", "/v1/models")


class Stage:
    """What actors use, with a journal to write in, and no network."""

    def __init__(self, hops: tuple[Hop, ...] = ("client", "opencode", "model")) -> None:
        self.journal = Journal()
        self.hops = hops
        self.model: tuple[Rule, ...] = ()
        self.tap: tuple[TapRule, ...] = ()

    def begin(self, request: Request, label: str) -> Answered:
        recording = self.journal.record("client", request, label)
        recording.head(200, ())
        return Answered(recording.snapshot().number, recording.close)

    def seen(self, hop: Hop) -> tuple[Exchange, ...]:
        return self.journal.seen(hop)

    def wait(self, hop: Hop, until: Callable[[tuple[Exchange, ...]], bool], within: float) -> bool:
        return self.journal.wait(hop, until, within)

    def calm(self, hop: Hop) -> float:
        return self.journal.calm(hop)

    def observes(self, hop: Hop) -> bool:
        return hop in self.hops

    def use_model_rules(self, rules: tuple[Rule, ...]) -> None:
        self.model = rules

    def use_tap_rules(self, rules: tuple[TapRule, ...]) -> None:
        self.tap = rules

    def canaries(self) -> Mapping[str, str]:
        return {}

    def open_gate(self, name: str) -> None:
        self.opened = name

    def through_tap(self) -> str:
        return "http://tap"

    def find(self, number: int) -> Exchange:
        return next(entry for entry in self.journal.seen() if entry.number == number)


class Answered:
    """A request that ends when it is asked for, or left."""

    def __init__(self, number: int, close: Callable[[Any], None]) -> None:
        self._number, self._close = number, close

    def result(self) -> int:
        self._close("complete")
        return self._number

    def leave(self) -> None:
        self._close("gone")


@pytest.fixture
def stage() -> Stage:
    return Stage()


@pytest.fixture
def world(stage: Stage) -> LiveWorld:
    return LiveWorld(CHECK, "seed", stage.find)


def again(world: LiveWorld, stage: Stage) -> RecordedWorld:
    """The world of `world`'s record."""
    acts = {(act.actor, act.label): act for act in world.acts}
    return RecordedWorld(CHECK, "seed", acts, {entry.number: entry for entry in stage.journal.seen()})


def test_client_sends_the_key_as_a_bearer_token(world: LiveWorld, stage: Stage) -> None:
    sent = Client(world, stage, {"main": "secret"}).send("ask", GET, key="main").request
    assert sent.headers == (("authorization", "Bearer secret"),)


def test_client_without_a_key_sends_the_request_as_it_is(world: LiveWorld, stage: Stage) -> None:
    assert Client(world, stage, {}).send("ask", GET).request == GET


def test_whether_a_key_was_had_is_on_record(world: LiveWorld, stage: Stage) -> None:
    client = Client(world, stage, {"main": "secret"})
    assert (client.has("main"), client.has("past")) == (True, False)
    replayed = Client(again(world, stage), None, {"main": "[secret:main]", "past": "[secret:past]"})
    assert (replayed.has("main"), replayed.has("past")) == (True, False)


def test_spoilt_key_is_a_placeholder_in_a_replay(world: LiveWorld, stage: Stage) -> None:
    client = Client(world, stage, {"main": "sk-abcdefghijklmnop", "short": "sk-a"})
    assert client.spoilt("main", "without its end") == "sk-abcdefghijklmno"
    assert client.spoilt("short", "without its end") is None
    replayed = Client(again(world, stage), None, {"main": "[secret:key.main]", "short": "[secret:key.short]"})
    assert replayed.spoilt("main", "without its end") == "[secret:key.main without its end]"
    assert replayed.spoilt("short", "without its end") is None


def test_client_that_leaves_is_shown_the_exchange_as_gone(world: LiveWorld, stage: Stage) -> None:
    assert Client(world, stage, {}).begin("ask", GET).leave().end == "gone"


def test_leaving_is_replayed_without_a_target(world: LiveWorld, stage: Stage) -> None:
    Client(world, stage, {}).begin("ask", GET).leave()
    assert Client(again(world, stage), None, {}).begin("ask", GET).leave().end == "gone"


def test_two_requests_of_one_label_are_an_error(world: LiveWorld, stage: Stage) -> None:
    client = Client(world, stage, {})
    client.send("ask", GET)
    with pytest.raises(HarnessError, match="label 'ask'"):
        client.send("ask", GET)


def test_script_adds_rule_to_rule(world: LiveWorld, stage: Stage) -> None:
    script = Script(world, stage)
    script.answer("one", Answer("1"), nonce="n1")
    script.answer("two", Answer("2"), nonce="n2")
    assert [rule.nonce for rule in stage.model] == ["n1", "n2"]


def test_script_tampers_through_the_tap(world: LiveWorld, stage: Stage) -> None:
    Script(world, stage).tamper("lie", Reply("GET", "/doc", 500, {}))
    assert [type(rule) for rule in stage.tap] == [Reply]


def test_script_without_a_stand_in_is_not_measured(world: LiveWorld) -> None:
    bare = Stage(("client",))
    with pytest.raises(NotMeasured, match="model"):
        Script(world, bare).answer("one", Answer())
    with pytest.raises(NotMeasured, match="opencode"):
        Script(world, bare).tamper("two", Reply("GET", "/doc", 500, {}))
    assert not Script(world, bare).reaches("there", "model")


def test_what_was_not_measured_is_not_measured_in_a_replay(world: LiveWorld) -> None:
    bare = Stage(("client",))
    with pytest.raises(NotMeasured):
        Script(world, bare).answer("one", Answer())
    with pytest.raises(NotMeasured):
        JournalReader(world, bare).read("look", "model")
    with pytest.raises(NotMeasured):
        Script(again(world, bare), None).answer("one", Answer())
    with pytest.raises(NotMeasured):
        JournalReader(again(world, bare), None).read("look", "model")


def test_replayed_script_that_says_something_else_is_a_mismatch(world: LiveWorld, stage: Stage) -> None:
    Script(world, stage).answer("one", Answer("this"))
    with pytest.raises(ReplayMismatch):
        Script(again(world, stage), None).answer("one", Answer("that"))


def test_replayed_client_that_asks_something_else_is_a_mismatch(world: LiveWorld, stage: Stage) -> None:
    Client(world, stage, {}).send("ask", ask("a", "this"))
    with pytest.raises(ReplayMismatch):
        Client(again(world, stage), None, {}).send("ask", ask("a", "that"))


def test_journal_is_replayed_as_it_was_when_it_was_read(world: LiveWorld, stage: Stage) -> None:
    recording = stage.journal.record("model", GET)
    recording.head(200, (("a", "b"),))
    recording.data(b"one")
    before = JournalReader(world, stage).read("before", "model")
    recording.data(b"two")
    recording.close("complete")
    after = JournalReader(world, stage).read("after", "model")
    replayed = JournalReader(again(world, stage), None)
    assert [(entry.body, entry.end) for entry in (*before, *after)] == [(b"one", "open"), (b"onetwo", "complete")]
    assert replayed.read("before", "model") == before
    assert replayed.read("after", "model") == after


def test_journal_is_read_once_it_has_come_to_rest(world: LiveWorld, stage: Stage, engine: Engine) -> None:
    async def trickle() -> None:
        for _ in range(5):
            stage.journal.record("model", GET)
            await asyncio.sleep(0.02)

    trickling: Future[None] = engine.submit(trickle())
    stage.journal.wait("model", bool, 5)
    assert len(JournalReader(world, stage).read("all", "model")) == 5
    trickling.result(5)


class Restless(Stage):
    """A stage on which requests go on without end."""

    def calm(self, hop: Hop) -> float:
        return 0.0


def test_journal_is_read_although_it_never_comes_to_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(actors, "RESTLESS", 0.1)
    stage = Restless()
    world = LiveWorld(CHECK, "seed", stage.find)
    stage.journal.record("model", GET)
    assert len(JournalReader(world, stage).read("look", "model")) == 1


def test_journal_wait_ends_as_soon_as_it_may(world: LiveWorld, stage: Stage) -> None:
    stage.journal.record("model", GET)
    began = time.monotonic()
    assert len(JournalReader(world, stage).wait("one", "model", lambda seen: len(seen) == 1, within=60)) == 1
    assert time.monotonic() - began < 30


def test_journal_wait_in_vain_shows_what_is_there(world: LiveWorld, stage: Stage) -> None:
    assert JournalReader(world, stage).wait("one", "model", bool, within=0.01) == ()


def test_replayed_clock_does_not_wait(world: LiveWorld) -> None:
    Clock(world).sleep("moment", 0.001)
    act = world.acts[0]
    assert (act.asked, act.seen) == (0.001, None)
    recorded_hour = {("clock", "hour"): replace(act, label="hour", asked=3600.0)}
    Clock(RecordedWorld(CHECK, "seed", recorded_hour, {})).sleep("hour", 3600.0)


@pytest.fixture
def slow_echo(engine: Engine) -> Iterator[str]:
    """Answers with what it was sent, each after a time of its own."""

    def handle(request: Request, wire: Wire) -> None:
        delay = random.Random(request.body).uniform(0, 0.1)
        asyncio.get_running_loop().call_later(delay, answer, wire, 200, request.body)

    with serving(engine, handle) as url:
        yield url


def ask_sixteen(context: Context, order: list[int]) -> dict[int, str]:
    """Sixteen requests at once, whose answers are taken in `order`."""
    client = Client(context.world, context.running, context.keys)
    calls = {n: client.begin(f"ask {n}", ask("solver", context.world.nonce(f"word {n}")), "main") for n in order}
    random.Random(3).shuffle(order)
    return {n: calls[n].result().text for n in order}


def test_sixteen_requests_at_once_are_replayed_in_another_order(engine: Engine, slow_echo: str, tmp_path: Path) -> None:
    with launch_at(engine, slow_echo) as launch:
        subject = LiveSubject(launch, "s1")
        context = subject.begin(CHECK)
        first = ask_sixteen(context, list(range(16)))
        records = subject.end(context, RESULT)
    again = ask_sixteen(RecordedSubject(recorded(records, tmp_path)).begin(CHECK), list(range(15, -1, -1)))
    assert again == first
    assert len(set(first.values())) == 16
