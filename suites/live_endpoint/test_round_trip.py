"""Turns that are followed over every hop, from the client to the model and back."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from harness.actors import Client, Script
from harness.chat import ask, stream_of
from harness.check import NotApplicable, NotMeasured, expect
from harness.exchange import Exchange, header
from harness.expectations import expect_completion, expect_said
from harness.fakes.model.script import Answer, ToolCall
from harness.fixtures.live import Chain, Turn
from harness.target import Agent
from harness.target_keys import KeyFacts
from harness.trail import ASKED, OUTPUT, SAID, asks, expect_passed

Nonce = Callable[[str], str]
TOOL = "bash"


@pytest.mark.requirement("LE-TURN-1")
def test_a_completion_goes_all_the_way_round(round_trip: Turn) -> None:
    """A word is planted at each end, and must come out at the other."""
    round_trip()


def _first_text(reply: Exchange) -> float:
    """When the first piece of the answer's text was there, in seconds since the run began."""
    for end in range(1, len(reply.chunks) + 1):
        begun = Exchange(reply.number, reply.hop, reply.request, reply.began, chunks=reply.chunks[:end])
        if stream_of(begun).text:
            return reply.began + reply.chunks[end - 1].at
    return reply.began


@pytest.mark.requirement("LE-STREAM-1")
def test_a_stream_goes_all_the_way_round(round_trip: Turn, chain: Chain, nonce: Nonce) -> None:
    """Its text is there after the model was asked for it, and it ends with [DONE]."""
    reply = round_trip(stream=True)
    events = stream_of(reply).events
    told = bool(events) and events[-1].data == "[DONE]"
    expect(told, "a stream that ends with [DONE]", repr(events[-1:]), "end with data: [DONE]", reply)
    asked = chain.passed("stream")[-1].asking(nonce(ASKED))[0]
    late = f"{asked.began - _first_text(reply):.3f} s before it"
    mend = "stream what the model says"
    expect(_first_text(reply) >= asked.began, "text after the model was asked", late, mend, reply)


def _tools_of(call: Exchange) -> list[str]:
    body = call.request.json()
    tools = body.get("tools") if isinstance(body, dict) else None
    functions = [tool.get("function") for tool in tools or [] if isinstance(tool, dict)]
    return [str(function.get("name")) for function in functions if isinstance(function, dict)]


@pytest.mark.requirement("LE-TOOL-1")
def test_a_tool_step_goes_all_the_way_round(
    client: Client, script: Script, chain: Chain, nonce: Nonce, key: KeyFacts, agent: Agent
) -> None:
    """The word that the tool prints is put together by running it, and is in no request before."""
    asked, said, output = nonce(ASKED), nonce(SAID), nonce(OUTPUT)
    command = {"command": f"echo {output[:11]}''{output[11:]}", "description": "say a word"}
    call = ToolCall(TOOL, json.dumps(command))
    steps = (Answer(nonce("early"), tool_calls=(call,), finish="tool_calls"), Answer(said))
    script.answer("two steps", *steps, nonce=asked)
    reply = client.send("ask", ask(agent.id, asked), key=key.name)
    content = expect_completion(reply, "a turn with a tool step")
    expect_said(content, said, reply)
    last = "answer with the text of the last step alone"
    expect(nonce("early") not in content, "nothing of the step before the tool ran", content, last, reply)
    passed = chain.passed("turn")
    expect_passed(reply, passed, asked, said)
    calls = passed[-1].asking(asked)
    if not any(TOOL in _tools_of(one) for one in calls):
        raise NotMeasured(f"the agent may not use the tool {TOOL}")
    told = [one for one in calls if asks(one, output)]
    mend = "let opencode run the tool, and go on with what it printed"
    expect(bool(told), f"the tool's output {output} in a second step", f"{len(calls)} calls without it", mend, reply)


@pytest.mark.requirement("LE-PROXY-1")
def test_the_proxys_key_goes_no_further(round_trip: Turn, chain: Chain, nonce: Nonce) -> None:
    """What opencode calls is the proxy, and what calls the model is not opencode."""
    if "proxy" not in chain.hops:
        raise NotApplicable("there is no proxy in this chain")
    reply = round_trip()
    proxied, far = (hop.asking(nonce(ASKED)) for hop in chain.passed("calls")[-2:])
    mend = "this is a fault of the proxy, or of how it was set up"
    expect(len(proxied) == len(far), f"{len(far)} calls of the proxy", str(len(proxied)), mend, reply)
    keys = {header(call.request.headers, "authorization") for call in proxied}
    expect(len(keys) == 1 and None not in keys, "one key of the proxy", f"{len(keys)} keys", mend, proxied[0])
    leaked = [call for call in far if header(call.request.headers, "authorization") in keys]
    expect(not leaked, "another key, or none, at the model", "the proxy's", mend, leaked[0] if leaked else None)
