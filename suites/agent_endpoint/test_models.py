"""What the list of models says."""

from __future__ import annotations

from urllib.parse import quote

import pytest

from harness.actors import Client
from harness.check import NotMeasured, expect
from harness.exchange import Exchange, Request
from harness.expectations import expect_refusal, shown
from harness.shapes import flaw
from harness.target import Agent, Facts
from harness.target_keys import KeyFacts

MEND = "list the ids of the key's agents as models, each once"
MEND_ONE = "describe an agent of the key under /v1/models/{id}, with the id taken whole, slashes and %2F too"


def list_models(client: Client, key: KeyFacts) -> list[str]:
    """The ids that a key's list holds; expects an OpenAI list."""
    listed = client.send(f"models of {key.name}", Request("GET", "/v1/models"), key=key.name)
    ok = listed.status == 200 and listed.content_type == "application/json"
    expect(ok, "a 200 with a JSON list for GET /v1/models", shown(listed), MEND, listed)
    wrong = flaw("model_list", listed.json())
    expect(wrong is None, "an OpenAI list of models", f"{wrong}; {shown(listed)}", MEND, listed)
    return [entry["id"] for entry in listed.json()["data"]]


@pytest.mark.requirement("AE-MODELS-1")
def test_the_list_holds_exactly_the_agents_of_the_key(client: Client, target: Facts) -> None:
    """Every valid key lists its own agents: all of them, each once, and no other."""
    keys = [key for key in target.keys if key.state == "valid" and key.rate_cap is None]
    if not keys:
        raise NotMeasured("the target file names no valid key without a rate_cap")
    for key in keys:
        ids = list_models(client, key)
        expect(sorted(ids) == sorted(key.agents), f"the agents {sorted(key.agents)}", sorted(ids), MEND)


def one_model(client: Client, label: str, id_: str, key: KeyFacts) -> Exchange:
    """GET /v1/models/{id}, the id written as it is."""
    return client.send(label, Request("GET", f"/v1/models/{id_}"), key=key.name)


def expect_described(answer: Exchange, agent: Agent) -> None:
    """A 200 with a model of that id."""
    body = answer.json()
    described = isinstance(body, dict) and body.get("id") == agent.id and body.get("object") == "model"
    expect(answer.status == 200 and described, f"a model with the id {agent.id!r}", shown(answer), MEND_ONE, answer)


@pytest.mark.requirement("AE-MODELS-2")
def test_a_model_of_the_key_is_described(client: Client, key: KeyFacts, agent: Agent) -> None:
    """As the official clients ask for it: percent-encoded."""
    expect_described(one_model(client, "in scope", quote(agent.id, safe=""), key), agent)


@pytest.mark.requirement("AE-MODELS-2")
def test_a_model_outside_the_scope_of_the_key_is_not_found(
    client: Client, key: KeyFacts, agent: Agent, outsider: Agent
) -> None:
    """Only what the key may use is there."""
    refused = one_model(client, "outside", quote(outsider.id, safe=""), key)
    expect_refusal(refused, {404}, "a model outside the key's scope", MEND_ONE)
    expect_described(one_model(client, "in scope", quote(agent.id, safe=""), key), agent)


@pytest.mark.requirement("AE-MODELS-2")
@pytest.mark.parametrize("written", ["slash", "percent"])
def test_a_model_id_with_slashes_is_taken_whole(client: Client, target: Facts, written: str) -> None:
    """The official clients send %2F; people write the slash."""
    for key in target.keys:
        slashed = [agent for agent in target.agents if "/" in agent.id and agent.id in key.agents]
        if key.state == "valid" and slashed:
            id_ = quote(slashed[0].id, safe="/" if written == "slash" else "")
            expect_described(one_model(client, "slashed", id_, key), slashed[0])
            return
    raise NotMeasured("the target file names no agent with a slash in its id")
