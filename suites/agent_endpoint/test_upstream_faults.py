"""When opencode fails, the client is told so, and the next request is served."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from harness.actors import Client, Script
from harness.chat import ask
from harness.check import expect
from harness.exchange import Exchange
from harness.expectations import expect_completion, expect_refusal, shown
from harness.failed_turns import expect_failed, expect_whole_or_failed
from harness.fakes.model.script import Answer
from harness.fixtures.opencode_events import SYNCHRONOUS
from harness.fixtures.upstream_faults import ALWAYS, NAMES, PROMPT, upstream_fault
from harness.tap_script import Break, Inject, Refuse, Reply, StreamEnd, TapRule
from harness.target import Agent
from harness.target_keys import KeyFacts

MEND = "take whatever goes wrong between the endpoint and opencode for a failed turn, and answer 502"


@pytest.mark.requirement("AE-FAULT-1")
def test_refused_connections_are_a_502(
    client: Client,
    script: Script,
    nonce: Callable[[str], str],
    key: KeyFacts,
    agent: Agent,
    expect_plain_turn: Callable[[str], None],
    plain_turn: Callable[[str], Exchange],
) -> None:
    """Nobody listens where opencode was."""
    expect_plain_turn("before")
    script.tamper("refuse", Refuse())
    reply = client.send("ask", ask(agent.id, nonce("asked")), key=key.name)
    streamed = client.send("ask for a stream", ask(agent.id, nonce("asked"), stream=True), key=key.name)
    script.desist("accept")
    plain_turn("so that later checks find the target recovered")
    expect_failed(reply, "a turn while opencode refuses connections", MEND)
    expect_failed(streamed, "a streamed turn while opencode refuses connections", MEND)


WRONG_ANSWERS: dict[str, tuple[int, Any, str]] = {
    "400": (400, {"name": "BadRequest", "data": {"message": "Missing key", "kind": "Payload"}}, "application/json"),
    "401": (401, "", "text/plain"),
    "404": (404, {"name": "NotFoundError", "data": {"message": "Session not found"}}, "application/json"),
    "500": (500, {"name": "UnknownError", "data": {"message": "Unexpected server error"}}, "application/json"),
    "503": (503, "no upstream", "text/plain"),
    "page": (200, "<!doctype html><title>opencode</title>", "text/html"),
    "nothing": (200, "", "text/plain"),
    "half an object": (200, '{"id": "ses_', "application/json; charset=utf-8"),
    "another shape": (200, {"success": True}, "application/json"),
}


@pytest.mark.requirement("AE-FAULT-2")
@pytest.mark.parametrize("path", [pytest.param("/session", id="session"), pytest.param(PROMPT, id="prompt")])
@pytest.mark.parametrize("answer", WRONG_ANSWERS.values(), ids=WRONG_ANSWERS.keys())
def test_a_wrong_answer_is_a_502(
    client: Client,
    script: Script,
    nonce: Callable[[str], str],
    key: KeyFacts,
    agent: Agent,
    expect_plain_turn: Callable[[str], None],
    path: str,
    answer: tuple[int, Any, str],
) -> None:
    """A session or a prompt that is refused, or answered with something else, by a server that is not well."""
    status, body, media = answer
    script.tamper("wrong answer", Reply("POST", path, status, body, ALWAYS, media))
    asked = [
        client.begin(f"ask for {mode}", ask(agent.id, nonce("asked"), stream=mode == "stream"), key=key.name)
        for mode in ("json", "stream")
    ]
    late = path == PROMPT and status == 200
    for call in asked:
        expect_failed(call.result(), "a turn that opencode did not take", MEND, {502, 504} if late else {502})
    script.desist("well again")
    expect_plain_turn("afterwards")


HALF = Reply("POST", SYNCHRONOUS, 200, '{"info": {"role": "assis', media="application/json; charset=utf-8")
SYNCHRONOUS_END: dict[StreamEnd, Reply] = {
    "complete": HALF,
    "cut": Reply("POST", SYNCHRONOUS, 200, {"info": {}}, ending="cut"),
    "reset": Reply("POST", SYNCHRONOUS, 200, {"info": {}}, ending="reset"),
}

ENDS: dict[StreamEnd, str] = {"complete": "ends", "cut": "is cut off", "reset": "is reset"}

BROKEN_STREAMS = [
    pytest.param((Break("server.connected", "complete"), HALF), id="ends at once"),
    *(
        pytest.param((Break(after, ending), SYNCHRONOUS_END[ending]), id=f"{name} {when}")
        for ending, name in ENDS.items()
        for after, when in (("session.status", "before the text"), ("message.part.delta", "in the text"))
    ),
    *(
        pytest.param((Inject("session.status", (data,), status="busy"), HALF), id=f"has {name} for an event")
        for data, name in (("{", "half an object"), ("[]", "a list"), ("null", "null"), ('{"type":5}', "a number"))
    ),
]


@pytest.mark.requirement("AE-FAULT-4")
@pytest.mark.parametrize("tampering", BROKEN_STREAMS)
def test_nothing_is_made_up_when_the_event_stream(
    both_ways: Callable[..., tuple[Exchange, Exchange]],
    nonce: Callable[[str], str],
    expect_plain_turn: Callable[[str], None],
    tampering: tuple[TapRule, ...],
) -> None:
    """A failure, or the whole answer got by other means: never a part of it, a crash or a hanging client."""
    expect_plain_turn("before")
    answer = Answer(text=nonce("said"), piece=4, pause=0.05)
    reply, streamed = both_ways(answer, tampering=tampering)
    if reply.status == 200:
        content = expect_completion(reply, "a turn whose event stream broke")
        expect(content == nonce("said"), f"the whole answer, {nonce('said')}, or a 502", shown(reply), MEND, reply)
    else:
        expect_refusal(reply, {502}, "a turn whose event stream broke", MEND)
    expect_whole_or_failed(streamed, nonce("said"), "a streamed turn whose event stream broke")


@pytest.mark.requirement("AE-FAULT-9")
@pytest.mark.parametrize("name", [*NAMES, pytest.param("silence", marks=pytest.mark.waits)])
def test_the_first_request_is_served_again_after(
    client: Client,
    script: Script,
    nonce: Callable[[str], str],
    key: KeyFacts,
    agent: Agent,
    expect_plain_turn: Callable[[str], None],
    name: str,
) -> None:
    """What went wrong for one request is gone with it: nothing has to be restarted, or asked twice."""
    if name == "silence":
        script.answer("model in the fault", Answer(fault="hang"), nonce=nonce("asked"))
    else:
        fault = upstream_fault(name, "something is wrong")
        script.answer("model in the fault", fault.answer, nonce=nonce("asked"))
        script.tamper("opencode in the fault", *fault.tampering)
    client.send("ask", ask(agent.id, nonce("asked")), key=key.name)
    script.desist("the fault is gone")
    expect_plain_turn("afterwards")
