"""What a failure tells the client: that the turn failed, and nothing of what is inside."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from harness.actors import Client, Script
from harness.chat import ask, error_of
from harness.check import Inconclusive, expect
from harness.exchange import Exchange, Request
from harness.expectations import shown
from harness.fakes.model.script import Answer
from harness.fixtures.upstream_faults import NAMES, UpstreamFault, upstream_fault
from harness.tap_script import After, TapRule
from harness.target import Agent
from harness.target_keys import KeyFacts

MEND = "log the reason, and give clients one fixed message: type server_error, code agent_error"

EXCEPTIONS = ("Traceback (most recent call last)", "ECONNREFUSED", "[Errno ", "Connect call failed", "ConnectError")
"""What an exception leaves in a message when no connection is to be had."""

CANARIES = {
    "a path": "/srv/{word}/agents.py",
    "an address": "http://{word}.internal:4096",
    "a password": "password={word}",
    "a key": "sk-{word}",
    "the text of an exception": "KeyError: '{word}'",
    "an upstream body": "<pre>{word}</pre>",
}


def saying(nonce: Callable[[str], str]) -> str:
    """All planted canaries in one text."""
    return "; ".join(form.format(word=nonce(name)) for name, form in CANARIES.items())


def expect_nothing_told(client: Client, reply: Exchange, nonce: Callable[[str], str], which: str = "answer") -> None:
    """The answer holds no planted word, no secret or address of the run, and no exception; there must be one."""
    if reply.status is None:
        raise Inconclusive(f"{shown(reply)}, so there is nothing in which a secret could stand")
    told = [name for name in CANARIES if nonce(name) in reply.text]
    told += client.betrayed(f"secrets and addresses in the {which}", reply)
    told += [f"the text of an exception, {text!r}" for text in EXCEPTIONS if text in reply.text]
    expect(not told, "a refusal that tells nothing of the inside", f"{', '.join(told)}: {shown(reply)}", MEND, reply)


@pytest.mark.requirement("AE-FAULT-8")
@pytest.mark.parametrize("name", NAMES)
def test_a_failure_tells_nothing_of_the_inside(
    client: Client,
    both_ways: Callable[..., tuple[Exchange, Exchange]],
    nonce: Callable[[str], str],
    expect_plain_turn: Callable[[str], None],
    plain_turn: Callable[[str], Exchange],
    name: str,
) -> None:
    """Whatever opencode or the model server says when it fails stays inside; a 502 is an agent_error."""
    expect_plain_turn("before")
    fault = upstream_fault(name, saying(nonce))
    replies = both_ways(fault.answer, tampering=fault.tampering)
    plain_turn("so that later checks find the target recovered")
    for which, reply in zip(("answer", "stream"), replies, strict=True):
        expect_nothing_told(client, reply, nonce, which)
        if reply.status == 502:
            came = (error_of(reply).get("type"), error_of(reply).get("code"))
            expected = "type server_error, code agent_error"
            expect(came == ("server_error", "agent_error"), expected, repr(came), MEND, reply)


IN_THE_TEXT = ("session error", "stream reset", "malformed event")


@pytest.mark.requirement("AE-FAULT-8")
@pytest.mark.parametrize("name", IN_THE_TEXT)
def test_an_error_event_tells_nothing_of_the_inside(
    client: Client,
    script: Script,
    nonce: Callable[[str], str],
    key: KeyFacts,
    agent: Agent,
    expect_plain_turn: Callable[[str], None],
    plain_turn: Callable[[str], Exchange],
    name: str,
) -> None:
    """The same holds for a stream that fails in its middle."""
    expect_plain_turn("before")
    script.answer("half", Answer(text="half of an answer", fault="hang_after_text"), nonce=nonce("asked"))
    script.tamper("in the text", *in_the_text(upstream_fault(name, saying(nonce))))
    reply = client.send("ask", ask(agent.id, nonce("asked"), stream=True), key=key.name)
    script.desist("the fault is gone")
    plain_turn("so that later checks find the target recovered")
    expect_nothing_told(client, reply, nonce)


def in_the_text(fault: UpstreamFault) -> tuple[TapRule, ...]:
    """The tampering of a fault, but that its event comes after the first piece of the answer."""
    return tuple(
        replace(rule, after="message.part.delta", status=None) if isinstance(rule, After) else rule
        for rule in fault.tampering
    )


@pytest.mark.requirement("AE-FAULT-8")
def test_a_refused_key_is_not_repeated(
    client: Client, nonce: Callable[[str], str], agent: Agent, expect_plain_turn: Callable[[str], None]
) -> None:
    """It may be another service's key, and refusals end up in logs."""
    expect_plain_turn("before")
    request = ask(agent.id, "Hello")
    headers = (*request.headers, ("authorization", f"Bearer sk-{nonce('a key')}"))
    reply = client.send("wrong key", Request(request.method, request.target, headers, request.body))
    expect_nothing_told(client, reply, nonce)
