"""Two keys at once."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import permutations

import pytest

from harness.actors import Client, JournalReader, Script
from harness.chat import ask
from harness.check import Inconclusive, NotMeasured, expect
from harness.exchange import Exchange, Request
from harness.expectations import expect_completion, expect_refusal, expect_said, shown
from harness.fakes.model.script import Answer
from harness.target import Agent, Facts
from harness.target_keys import KeyFacts

MEND = "keep the key with its request: no global, cache or pool may mix the keys of requests that overlap"


def own_agents(target: Facts, key: KeyFacts, other: KeyFacts) -> Iterator[Agent]:
    """The agents with a model that one key may use and the other may not."""
    for agent in target.agents:
        if agent.id in key.agents and agent.id not in other.agents and not agent.no_model:
            yield agent


@pytest.fixture
def pair(target: Facts) -> tuple[tuple[KeyFacts, Agent], tuple[KeyFacts, Agent]]:
    """Two valid keys, each with an agent that the other may not use."""
    for one, two in permutations([key for key in target.keys if key.state == "valid" and not key.rate_cap], 2):
        ones, twos = next(own_agents(target, one, two), None), next(own_agents(target, two, one), None)
        if ones is not None and twos is not None:
            return (one, ones), (two, twos)
    raise NotMeasured("the target file has no two valid keys that each may use an agent which the other may not")


@pytest.mark.requirement("AE-SCOPE-5")
def test_a_turn_under_way_lends_its_agent_to_no_other_key(
    client: Client,
    script: Script,
    journal: JournalReader,
    nonce: Callable[[str], str],
    target: Facts,
    pair: tuple[tuple[KeyFacts, Agent], tuple[KeyFacts, Agent]],
) -> None:
    """While one key's turn runs, the other still lists its own agents only, and may not ask for the first one's."""
    (one, ones), (two, twos) = pair
    alone = list_models(client, "alone", two)
    script.answer("long", Answer(text=nonce("long"), piece=2, pause=0.05), nonce=nonce("held"))
    held = client.begin("held", ask(ones.id, nonce("held")), key=one.name)
    if not journal.wait("turn under way", "model", bool, target.deadline):
        raise Inconclusive("no turn began that could be held")
    crossed = client.send("crossed", ask(ones.id, nonce("crossed")), key=two.name)
    listed = client.send("listed", Request("GET", "/v1/models"), key=two.name)
    script.answer("own", Answer(text=nonce("own")), nonce=nonce("own question"))
    own = client.send("own", ask(twos.id, nonce("own question")), key=two.name)
    expect_refusal(crossed, {404}, "another key's agent while that key's turn runs", MEND)
    expect_listed(listed, two, alone)
    expect_said(expect_completion(own, "the second key's own agent"), nonce("own"), own)
    reply = held.result()
    expect_said(expect_completion(reply, "the first key's own agent"), nonce("long"), reply)


@pytest.mark.requirement("AE-SCOPE-5")
def test_requests_of_two_keys_at_once_get_what_their_own_key_allows(
    client: Client,
    script: Script,
    nonce: Callable[[str], str],
    pair: tuple[tuple[KeyFacts, Agent], tuple[KeyFacts, Agent]],
) -> None:
    """Sixteen at once: each key for its own agent and for the other's, and for its list."""
    alone = {key.name: list_models(client, f"alone {key.name}", key) for key, _ in pair}
    for agent in (pair[0][1], pair[1][1]):
        script.answer(f"answer {agent.id}", Answer(text=nonce(f"said {agent.id}")), nonce=nonce(f"asked {agent.id}"))
    calls = {}
    for turn in range(2):
        for (key, own), (_, foreign) in permutations(pair):
            for kind, request in {
                "own": ask(own.id, nonce(f"asked {own.id}")),
                "foreign": ask(foreign.id, nonce(f"asked {foreign.id}")),
                "list": Request("GET", "/v1/models"),
                "again": ask(foreign.id, nonce(f"asked {foreign.id}"), stream=True),
            }.items():
                label = f"{kind} {key.name} {turn}"
                calls[label] = (kind, key, own, client.begin(label, request, key=key.name))
    for kind, key, own, call in calls.values():
        reply = call.result()
        if kind == "own":
            expect_said(expect_completion(reply, f"key {key.name}, own agent"), nonce(f"said {own.id}"), reply)
        elif kind == "list":
            expect_listed(reply, key, alone[key.name])
        else:
            expect_refusal(reply, {404}, f"key {key.name} and an agent that only the other key may use", MEND)


def list_models(client: Client, label: str, key: KeyFacts) -> list[str]:
    """The ids that a key lists, sorted."""
    return ids_of(client.send(label, Request("GET", "/v1/models"), key=key.name))


def ids_of(listed: Exchange) -> list[str]:
    """The ids in a list of models, sorted."""
    body = listed.json()
    data = body.get("data") if isinstance(body, dict) else None
    return sorted(str(entry.get("id")) for entry in data or () if isinstance(entry, dict))


def expect_listed(listed: Exchange, key: KeyFacts, alone: list[str]) -> None:
    """The list is the one that the key gets when nobody else asks."""
    ids = ids_of(listed)
    expect(bool(ids) and ids == alone, f"what key {key.name} lists alone: {alone}", shown(listed), MEND, listed)
