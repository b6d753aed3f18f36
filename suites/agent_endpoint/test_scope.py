"""A key reaches the agents that were consented to, and no others."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from harness.actors import Client, JournalReader, Script
from harness.chat import ask, work_in
from harness.exchange import Exchange
from harness.expectations import expect_completion, expect_no_calls, expect_refusal, expect_said
from harness.fakes.model.script import Answer
from harness.target import Agent
from harness.target_keys import KeyFacts

MEND = "look the model up among the key's agents, and answer 404 model_not_found when it is not there"


@pytest.fixture
def expect_not_found(
    client: Client, script: Script, journal: JournalReader, nonce: Callable[[str], str], key: KeyFacts, agent: Agent
) -> Callable[[Exchange], None]:
    """Expects a refusal that went no further; and, since who refuses everything keeps nothing, that the key works."""

    def expect_it(refused: Exchange) -> None:
        expect_refusal(refused, {404}, "an agent outside the key's scope", MEND, code="model_not_found")
        expect_no_calls(work_in(journal.read("opencode", "opencode")), "opencode", "a refused agent")
        expect_no_calls(journal.read("model", "model"), "the model server", "a refused agent")
        script.answer("own answer", Answer(text=nonce("own answer")), nonce=nonce("own question"))
        reply = client.send("own agent", ask(agent.id, nonce("own question")), key=key.name)
        expect_said(expect_completion(reply, "an agent in the key's scope"), nonce("own answer"), reply)

    return expect_it


@pytest.mark.requirement("AE-SCOPE-1")
@pytest.mark.parametrize("stream", [False, True], ids=["json", "stream"])
def test_an_agent_without_consent_is_not_found(
    client: Client,
    nonce: Callable[[str], str],
    key: KeyFacts,
    outsider: Agent,
    expect_not_found: Callable[[Exchange], None],
    stream: bool,
) -> None:
    """An agent that exists is 404 to a key that may not use it, and nothing of it reaches upstream."""
    expect_not_found(client.send("refused", ask(outsider.id, nonce("refused"), stream=stream), key=key.name))


@pytest.mark.requirement("AE-SCOPE-1")
def test_an_agent_without_consent_and_without_a_model_is_not_found(
    client: Client,
    nonce: Callable[[str], str],
    modelless_outsider: tuple[KeyFacts, Agent],
    expect_not_found: Callable[[Exchange], None],
) -> None:
    """What an agent lacks is told to those who may use it."""
    its_key, without = modelless_outsider
    expect_not_found(client.send("refused", ask(without.id, nonce("refused")), key=its_key.name))


@pytest.mark.requirement("AE-SCOPE-1")
@pytest.mark.parametrize("stream", [False, True], ids=["json", "stream"])
def test_an_agent_that_does_not_exist_is_not_found(
    client: Client,
    nonce: Callable[[str], str],
    key: KeyFacts,
    expect_not_found: Callable[[Exchange], None],
    stream: bool,
) -> None:
    """An unknown agent is 404, and nothing of it reaches upstream."""
    expect_not_found(client.send("refused", ask(nonce("nobody"), nonce("refused"), stream=stream), key=key.name))
