from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from typing import Any

import pytest

from harness import official_client
from harness.check import NotMeasured
from harness.engine import Engine
from harness.errors import HarnessError
from harness.fakes.model.script import Answer, Rule
from harness.fakes.model.server import ModelServer
from harness.journal import Journal
from harness.live import LiveTarget
from harness.official_client import OfficialClient, Outcome
from harness.world import LiveWorld, RecordedWorld

USER = [{"role": "user", "content": "Hello"}]


@pytest.fixture
def server(engine: Engine) -> Iterator[ModelServer]:
    server = ModelServer(["m"])
    engine.call(server.start(), 10)
    yield server
    engine.call(server.stop(), 10)


@pytest.fixture
def live(engine: Engine, server: ModelServer) -> Iterator[LiveTarget]:
    with LiveTarget(engine, Journal(), server.url, {"main": "key-of-main"}, 5.0, None) as live:
        yield live


@pytest.fixture
def world(live: LiveTarget) -> LiveWorld:
    return LiveWorld("c", "seed", live.find)


@pytest.fixture
def client(world: LiveWorld, live: LiveTarget) -> OfficialClient:
    return OfficialClient(world, live, live.keys, 5.0)


def again(world: LiveWorld, live: LiveTarget) -> OfficialClient:
    """The client in a replay of what was recorded so far."""
    acts = {(act.actor, act.label): act for act in world.acts}
    exchanges = {exchange.number: exchange for exchange in live.seen("client")}
    return OfficialClient(RecordedWorld("c", "seed", acts, exchanges), None, {"main": "[secret:key.main]"}, 5.0)


def test_models_are_listed_by_their_ids(client: OfficialClient) -> None:
    assert client.models("list", "main").value == ["m"]


def test_completion_is_a_json_object(client: OfficialClient, server: ModelServer) -> None:
    server.script.replace([Rule(None, (Answer("said"),))])
    value = client.complete("ask", "main", model="m", messages=USER).value
    assert (value["choices"][0]["message"]["content"], json.loads(json.dumps(value))) == ("said", value)


def test_stream_is_a_list_of_chunks(client: OfficialClient, server: ModelServer) -> None:
    server.script.replace([Rule(None, (Answer("one two", piece=4),))])
    chunks = client.stream("ask", "main", model="m", messages=USER).value
    assert "".join(chunk["choices"][0]["delta"]["content"] or "" for chunk in chunks) == "one two"


def test_raised_error_is_named_with_its_status(client: OfficialClient) -> None:
    outcome = client.complete("ask", "main", model="other", messages=USER)
    assert (outcome.raised, outcome.status, outcome.value) == ("NotFoundError", 404, None)


def test_error_in_a_stream_has_no_status(client: OfficialClient, server: ModelServer) -> None:
    server.script.replace([Rule(None, (Answer("half", fault="error_chunk", message="broken"),))])
    outcome = client.stream("ask", "main", model="m", messages=USER)
    assert (outcome.raised, outcome.status, outcome.message) == ("APIError", None, "broken")


def test_refused_call_is_not_made_again(client: OfficialClient, server: ModelServer, live: LiveTarget) -> None:
    server.script.replace([Rule(None, (Answer(status=502),))])
    client.complete("ask", "main", model="m", messages=USER)
    assert len(live.seen("client")) == 1


@pytest.mark.parametrize(("key", "sent"), [("main", "Bearer key-of-main"), (None, "Bearer unknown-key")])
def test_what_the_client_sent_is_on_the_client_hop(client: OfficialClient, key: str | None, sent: str) -> None:
    exchange = client.models("list", key).exchange
    assert exchange is not None
    headers = {name.lower(): value for name, value in exchange.request.headers}
    assert (exchange.hop, exchange.status, exchange.end, headers["authorization"]) == ("client", 200, "complete", sent)


CALLS: dict[str, Callable[[OfficialClient], Outcome]] = {
    "models": lambda client: client.models("call", "main"),
    "complete": lambda client: client.complete("call", "main", model="m", messages=USER),
    "stream": lambda client: client.stream("call", "main", model="m", messages=USER),
    "refused": lambda client: client.complete("call", "main", model="other", messages=USER),
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS.keys())
def test_replay_shows_the_same_outcome(
    client: OfficialClient, world: LiveWorld, live: LiveTarget, call: Callable[[OfficialClient], Outcome]
) -> None:
    outcome = call(client)
    assert call(again(world, live)) == outcome


def test_replay_of_another_call_is_a_mismatch(client: OfficialClient, world: LiveWorld, live: LiveTarget) -> None:
    client.complete("ask", "main", model="m", messages=USER)
    with pytest.raises(HarnessError, match="something else"):
        again(world, live).complete("ask", "main", model="other", messages=USER)


def test_key_is_not_recorded(client: OfficialClient, world: LiveWorld) -> None:
    client.models("list", "main")
    assert "key-of-main" not in json.dumps([act.to_json() for act in world.acts])


def test_without_the_client_nothing_is_measured(
    client: OfficialClient, world: LiveWorld, live: LiveTarget, monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing(name: str) -> Any:
        return None if name == "openai" else find_spec(name)

    monkeypatch.setattr(official_client, "find_spec", missing)
    with pytest.raises(NotMeasured, match="clients"):
        client.models("list", "main")
    with pytest.raises(NotMeasured, match="clients"):
        again(world, live).models("list", "main")
