"""Which model a turn is driven with."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from harness.actors import Client, JournalReader, Script
from harness.chat import ask, prompts_in
from harness.check import NotMeasured, expect
from harness.exchange import Exchange
from harness.expectations import expect_completion, expect_said
from harness.fakes.model.script import Answer
from harness.target import Agent
from harness.target_keys import KeyFacts

MEND = "put the agent's configured providerID and modelID into the prompt, split at the first slash only"


@pytest.mark.requirement("AE-TURN-2")
def test_every_agent_is_prompted_with_its_own_model(
    client: Client,
    script: Script,
    journal: JournalReader,
    nonce: Callable[[str], str],
    key: KeyFacts,
    agents: tuple[Agent, ...],
) -> None:
    """Provider and model id of each prompt are the agent's, and so is the model on the wire."""
    configured = [agent for agent in agents if agent.model is not None]
    if not configured:
        raise NotMeasured("the target file names no agent's model")
    for agent in configured:
        script.answer(f"answer {agent.id}", Answer(text=nonce(f"said {agent.id}")), nonce=nonce(f"asked {agent.id}"))
        reply = client.send(f"ask {agent.id}", ask(agent.id, nonce(f"asked {agent.id}")), key=key.name)
        seen = [e for e in journal.read(f"opencode {agent.id}", "opencode") if holds(e, nonce(f"asked {agent.id}"))]
        calls = [e for e in journal.read(f"model {agent.id}", "model") if holds(e, nonce(f"asked {agent.id}"))]
        expect_prompted(agent, seen, calls, reply)
        expect_said(expect_completion(reply, f"agent {agent.id}"), nonce(f"said {agent.id}"), reply)


def expect_prompted(agent: Agent, seen: list[Exchange], calls: list[Exchange], reply: Exchange) -> None:
    """One prompt with the agent's model in `seen`, and model calls with its name in `calls`."""
    wanted = {"providerID": agent.provider, "modelID": agent.model}
    named = [model_of(prompt.request.json()) for prompt in prompts_in(seen)]
    expect(named == [wanted], f"one prompt for {agent.id} that names {wanted}", repr(named), MEND, (seen or [reply])[0])
    models = {str(call.request.json().get("model")) for call in calls}
    expect(models == {agent.model}, f"model calls for {agent.model!r}", repr(models), MEND, (calls or [reply])[0])


def model_of(prompt: Any) -> Any:
    """The `model` of a prompt, as far as it is compared."""
    model = prompt.get("model") if isinstance(prompt, dict) else None
    return {name: model.get(name) for name in ("providerID", "modelID")} if isinstance(model, dict) else model


def holds(exchange: Exchange, word: str) -> bool:
    """Whether `word` was sent."""
    return word.encode() in exchange.request.body
