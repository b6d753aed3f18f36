"""What is not served: an agent that is not there, and a turn that fails beyond the endpoint."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from harness.actors import Client, Script
from harness.chat import ask, work_in
from harness.check import expect
from harness.exchange import Exchange
from harness.expectations import expect_no_calls, expect_refusal, shown
from harness.fakes.model.script import Answer
from harness.fixtures.live import Chain, Turn
from harness.tap_script import Refuse
from harness.target import Agent, Facts
from harness.target_keys import KeyFacts
from harness.trail import AFTERWARDS, ASKED, FAULT, Passed, answers

Nonce = Callable[[str], str]


def _work(passed: Passed) -> tuple[Exchange, ...]:
    return tuple(work_in(passed.exchanges)) if passed.hop == "opencode" else passed.exchanges


@pytest.mark.requirement("LE-REFUSAL-1")
def test_a_model_out_of_reach_is_refused(
    client: Client, chain: Chain, nonce: Nonce, target: Facts, key: KeyFacts, round_trip: Turn
) -> None:
    """One that nobody has, and one of an agent that exists; nothing of them is seen on any hop, and a good one is
    served."""
    outside = [agent.id for agent in target.agents if agent.id not in key.agents][:1]
    mend = "look the model up among the key's agents, and answer 404 model_not_found when it is not there"
    for model in (nonce("nobody"), *outside):
        refused = client.send(f"refused {model}", ask(model, nonce(ASKED)), key=key.name)
        expect_refusal(refused, {404}, "a model that the key does not reach", mend, code="model_not_found")
    for passed in chain.passed("refused"):
        expect_no_calls(_work(passed), f"the hop {passed.hop}", "a refused model")
    round_trip(AFTERWARDS)


@pytest.mark.requirement("LE-FAULT-1")
def test_a_fault_beyond_the_endpoint_is_a_502(
    client: Client, script: Script, chain: Chain, nonce: Nonce, key: KeyFacts, agent: Agent, round_trip: Turn
) -> None:
    """The model server refuses the call; where it is no server of ours, opencode refuses connections."""
    asked, fault = nonce(ASKED), nonce(FAULT)
    if chain.scripted:
        script.answer("fault", Answer(status=400, message=fault, error_type="invalid_request_error"), nonce=asked)
    else:
        script.tamper("fault", Refuse())
    reply = client.send("ask", ask(agent.id, asked), key=key.name)
    if not chain.scripted:
        script.desist("the fault is gone")
    mend = "answer a failed turn with 502 and words of your own"
    expect_refusal(reply, {502}, "a turn that fails beyond the endpoint", mend)
    expect(fault not in reply.text, "nothing of the upstream's words", shown(reply), mend, reply)
    if chain.scripted:
        told = any(answers(call, fault) for call in chain.passed("fault")[-1].asking(asked))
        expect(told, f"the fault {fault} at the far end", "no call met it", "pass the prompt on", reply)
    round_trip(AFTERWARDS)
