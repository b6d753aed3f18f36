"""Turns that run at the same time do not get in each other's way."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from harness.actors import Client, JournalReader, Script
from harness.chat import ask
from harness.check import Inconclusive, NotMeasured, expect
from harness.exchange import Exchange
from harness.expectations import expect_completion, expect_said, expect_stream, shown
from harness.fakes.model.script import Answer
from harness.target import Agent, Facts, KeyFacts

AT_ONCE = 16


@pytest.fixture
def two_agents(agents: tuple[Agent, ...]) -> tuple[Agent, Agent]:
    """Two agents of the key's with different models, as far as is told."""
    first, *others = agents
    for other in others:
        if other.model is None or (other.provider, other.model) != (first.provider, first.model):
            return first, other
    raise NotMeasured("the target file names no two agents with different models in the scope of the first valid key")


@pytest.mark.requirement("AE-TURN-7")
def test_sixteen_requests_at_once_get_their_own_answers(
    client: Client,
    script: Script,
    journal: JournalReader,
    nonce: Callable[[str], str],
    key: KeyFacts,
    two_agents: tuple[Agent, Agent],
) -> None:
    """Two agents, streamed or not: each answer holds its own word and no other's, and each its agent's model."""
    labels = [f"{number}" for number in range(AT_ONCE)]
    for label in labels:
        script.answer(f"answer {label}", Answer(text=nonce(f"said {label}")), nonce=nonce(f"asked {label}"))
    asked = []
    for number, label in enumerate(labels):
        agent, stream = two_agents[number % 2], number // 2 % 2 == 1
        request = ask(agent.id, nonce(f"asked {label}"), stream=stream)
        asked.append((label, agent, stream, client.begin(f"ask {label}", request, key=key.name)))
    replies = [(label, agent, stream, call.result()) for label, agent, stream, call in asked]
    calls = journal.read("model", "model")
    for label, agent, stream, reply in replies:
        why = f"one of {AT_ONCE} requests at once"
        text = expect_stream(reply, why).text if stream else expect_completion(reply, why)
        others = [other for other in labels if other != label and nonce(f"said {other}") in text]
        expect(
            not others, "no answer of another request", f"answer {others} in answer {label}", "keep them apart", reply
        )
        expect_said(text, nonce(f"said {label}"), reply)
        models = {model_of(call) for call in calls if nonce(f"asked {label}").encode() in call.request.body}
        right = models == {agent.model} if agent.model is not None else len(models) == 1
        mend = "keep the agent's model with its request"
        expect(right, f"model calls for {agent.model!r} alone", repr(models), mend, reply)


def model_of(call: Exchange) -> str:
    """The model that a call names."""
    body = call.request.json()
    return str(body.get("model")) if isinstance(body, dict) else ""


@pytest.mark.requirement("AE-TURN-8")
@pytest.mark.parametrize("stream", [False, True], ids=["json held", "stream held"])
def test_a_turn_does_not_wait_for_another_agents(
    client: Client,
    script: Script,
    journal: JournalReader,
    nonce: Callable[[str], str],
    target: Facts,
    key: KeyFacts,
    two_agents: tuple[Agent, Agent],
    stream: bool,
) -> None:
    """While the model keeps one agent waiting another answers; then the first goes on to its own end."""
    held_agent, free_agent = two_agents
    held = Answer(text=f"Wait. {nonce('held said')}", piece=5, gate=nonce("gate"))
    script.answer("held answer", held, nonce=nonce("held"))
    script.answer("free answer", Answer(text=nonce("free said")), nonce=nonce("free"))
    call = client.begin("ask held", ask(held_agent.id, nonce("held"), stream=stream), key=key.name)

    def is_held(calls: tuple[Exchange, ...]) -> bool:
        return any(nonce("held").encode() in call.request.body for call in calls)

    if not is_held(journal.wait("held call", "model", is_held, target.deadline / 2)):
        raise Inconclusive("the first request led to no model call")
    free = client.send("ask free", ask(free_agent.id, nonce("free")), key=key.name)
    script.open("let go", nonce("gate"))
    reply = call.result()
    expect_said(expect_completion(free, "a request while another agent's turn waits"), nonce("free said"), free)
    why = "a turn that waited while another agent's ran"
    whole = reply.status == 200 and reply.end == "complete"
    expect(whole, f"a 200 for {why}", shown(reply), "let every turn run by itself", reply)
    text = expect_stream(reply, why).text if stream else expect_completion(reply, why)
    expect_said(text, nonce("held said"), reply)
