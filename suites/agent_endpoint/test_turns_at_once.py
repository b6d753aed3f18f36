"""Turns that run at the same time do not get in each other's way."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import pytest

from harness.actors import Client, JournalReader, Script
from harness.chat import ask
from harness.check import Inconclusive, NotMeasured, expect
from harness.exchange import Exchange
from harness.expectations import expect_completion, expect_said, expect_stream, shown
from harness.fakes.model.script import Answer
from harness.target import Agent, Facts
from harness.target_keys import KeyFacts
from harness.telling import beginning

AT_ONCE = 16


@pytest.fixture
def two_agents(agents: tuple[Agent, ...]) -> tuple[Agent, Agent]:
    """Two agents of the key's with different models, as far as is told."""
    first, *others = agents
    for other in others:
        if other.model is None or (other.provider, other.model) != (first.provider, first.model):
            return first, other
    raise NotMeasured("the target file names no two agents with different models in the scope of the first valid key")


@dataclass(frozen=True)
class Asked:
    """One of the requests that are made at once; `said` is the word of its answer, `reply` what came."""

    agent: Agent
    stream: bool
    asked: str
    said: str
    reply: Exchange


@pytest.fixture
def ask_at_once(
    client: Client, script: Script, nonce: Callable[[str], str], key: KeyFacts, two_agents: tuple[Agent, Agent]
) -> Callable[[str], list[Asked]]:
    """Makes sixteen requests at once, named by a label, to two agents, streamed or not."""

    def make(label: str) -> list[Asked]:
        labels = [f"{label} {number}" for number in range(AT_ONCE)]
        for each in labels:
            script.answer(f"answer {each}", Answer(text=nonce(f"said {each}")), nonce=nonce(f"asked {each}"))
        begun = []
        for number, each in enumerate(labels):
            agent, stream = two_agents[number % 2], number // 2 % 2 == 1
            request = ask(agent.id, nonce(f"asked {each}"), stream=stream)
            begun.append((agent, stream, each, client.begin(f"ask {each}", request, key=key.name)))
        return [
            Asked(agent, stream, nonce(f"asked {each}"), nonce(f"said {each}"), call.result())
            for agent, stream, each, call in begun
        ]

    return make


@pytest.mark.waits
@pytest.mark.requirement("AE-TURN-7")
def test_sixteen_requests_at_once_get_their_own_answers(
    journal: JournalReader, target: Facts, ask_at_once: Callable[[str], list[Asked]]
) -> None:
    """Each answer holds its own word and no other's, and each turn has its agent's model.

    Where some were given up for time, all are asked once more: a machine that was busy is not the target's fault.
    """
    requests = ask_at_once("first")
    if any(ran_out_of_time(request.reply, target) for request in requests):
        requests = ask_at_once("second")
    calls = journal.read("model", "model")
    for request in requests:
        why, reply = f"one of {AT_ONCE} requests at once", request.reply
        answered = reply.status == 200
        expect(answered, f"a 200 for {why}", shown(reply), "let turns run at once, each by itself", reply)
        text = expect_stream(reply, why).text if request.stream else expect_completion(reply, why)
        others = [other.said for other in requests if other is not request and other.said in text]
        expect(not others, "no answer of another request", f"{others} in {beginning(text)}", "keep them apart", reply)
        expect_said(text, request.said, reply)
        models = {model_of(call) for call in calls if request.asked.encode() in call.request.body}
        wanted = request.agent.model
        right = models == {wanted} if wanted is not None else len(models) == 1
        mend = "keep the agent's model with its request"
        expect(right, f"model calls for {wanted!r} alone", repr(models), mend, reply)


def ran_out_of_time(reply: Exchange, target: Facts) -> bool:
    """Whether the target gave a turn up because its time was over."""
    return reply.status in (502, 504) and (reply.duration or 0.0) >= target.deadline / 2


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

    if not is_held(journal.wait("held call", "model", is_held, target.deadline)):
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
