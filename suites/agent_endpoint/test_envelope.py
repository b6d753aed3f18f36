"""What a refusal looks like, whatever it is about."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from harness.actors import Client, Script
from harness.chat import PATH, ask, error_of, post
from harness.check import Inconclusive, NotMeasured, expect
from harness.exchange import Exchange, Request
from harness.expectations import ENVELOPE, shown
from harness.fakes.model.script import Answer
from harness.minter import Minter
from harness.shapes import flaw
from harness.target import Agent, Facts
from harness.target_keys import KeyFacts

MEND = "answer every refusal with application/json and {error: {message, type, code, param}}"
MEND_TYPE = "use invalid_request_error and the like for what the client did: server_error asks it to try again"

USER = {"role": "user", "content": "Hello"}

BODIES: dict[str, dict[str, Any]] = {
    "no messages": {"messages": []},
    "message no object": {"messages": ["Hello"]},
    "content a number": {"messages": [{"role": "user", "content": 1}]},
    "model no string": {"model": 1},
    "unknown model": {"model": "{nobody}"},
}
"""Fields that are wrong, put into a body that is right."""


@pytest.fixture
def refused(client: Client, nonce: Callable[[str], str], key: KeyFacts, agent: Agent) -> Callable[..., Exchange]:
    """Sends a wrong body and gives back its refusal."""

    def send(fields: dict[str, Any], stream: bool) -> Exchange:
        wrong = {name: nonce("nobody") if value == "{nobody}" else value for name, value in fields.items()}
        body = {"model": agent.id, "messages": [USER], "stream": stream, **wrong}
        return is_refusal(client.send("refused", post(body), key=key.name))

    return send


def is_refusal(exchange: Exchange) -> Exchange:
    """The exchange; without a refusal there is no envelope to look at."""
    if exchange.status is None or exchange.status < 400:
        raise Inconclusive(f"it was not refused: {shown(exchange)}")
    return exchange


def expect_envelope(exchange: Exchange) -> None:
    """The answer is JSON in the API's error envelope."""
    json_ = exchange.content_type == "application/json"
    expect(json_, "a refusal as application/json", shown(exchange), MEND, exchange)
    wrong = flaw("error", exchange.json())
    expect(wrong is None, ENVELOPE, f"{wrong}; {shown(exchange)}", MEND, exchange)


def expect_clients_mistake(exchange: Exchange) -> None:
    """A 4xx whose type does not say that the server is to blame."""
    kind = error_of(exchange).get("type")
    if exchange.status is not None and exchange.status < 500:
        expect(bool(kind), "an error type", shown(exchange), MEND, exchange)
        expect(kind != "server_error", "another type than server_error", shown(exchange), MEND_TYPE, exchange)


@pytest.mark.requirement("AE-ENV-1")
@pytest.mark.parametrize("stream", [False, True], ids=["json", "stream"])
@pytest.mark.parametrize("fields", BODIES.values(), ids=BODIES.keys())
def test_a_wrong_body_is_refused_in_the_envelope(
    refused: Callable[..., Exchange], expect_works: Callable[[], None], fields: dict[str, Any], stream: bool
) -> None:
    """Also where a stream was asked for."""
    expect_envelope(refused(fields, stream))
    expect_works()


@pytest.mark.requirement("AE-ENV-2")
@pytest.mark.parametrize("stream", [False, True], ids=["json", "stream"])
@pytest.mark.parametrize("fields", BODIES.values(), ids=BODIES.keys())
def test_a_wrong_body_is_no_server_error(
    refused: Callable[..., Exchange], expect_works: Callable[[], None], fields: dict[str, Any], stream: bool
) -> None:
    """It never works, however often it is sent."""
    expect_clients_mistake(refused(fields, stream))
    expect_works()


@pytest.fixture(params=["no key", "unknown key", "no JSON", "outside", "unknown path"])
def other_refusal(
    request: pytest.FixtureRequest, client: Client, nonce: Callable[[str], str], target: Facts, key: KeyFacts
) -> Exchange:
    """A refusal for what is not in the body's fields."""
    kind = str(request.param)
    if kind == "outside":
        outside = [agent.id for agent in target.agents if agent.id not in key.agents]
        if not outside:
            raise NotMeasured(f"the target file names no agent outside the scope of key {key.name}")
        return is_refusal(client.send("refused", ask(outside[0], "Hello"), key=key.name))
    if kind == "unknown path":
        return is_refusal(client.send("refused", post({"model": "nobody"}, "/v1/nowhere"), key=key.name))
    if kind == "no JSON":
        broken = Request("POST", PATH, (("content-type", "application/json"),), b"{")
        return is_refusal(client.send("refused", broken, key=key.name))
    headers = (("authorization", f"Bearer sk-{nonce('unknown')}"),) if kind == "unknown key" else ()
    return is_refusal(client.send("refused", Request("GET", "/v1/models", headers)))


@pytest.mark.requirement("AE-ENV-1")
def test_a_refusal_is_in_the_envelope(other_refusal: Exchange, expect_works: Callable[[], None]) -> None:
    """Whatever was wrong."""
    expect_envelope(other_refusal)
    expect_works()


@pytest.mark.requirement("AE-ENV-2")
def test_a_refusal_is_no_server_error(other_refusal: Exchange, expect_works: Callable[[], None]) -> None:
    """Whatever the client did wrong."""
    expect_clients_mistake(other_refusal)
    expect_works()


@pytest.mark.requirement("AE-ENV-1")
def test_a_refusal_to_mint_is_in_the_envelope(minter: Minter, agent: Agent) -> None:
    """Whether it is who asks that is wrong, or what is asked."""
    for refused in (minter.mint("by nobody", [agent.id], by="nobody"), minter.mint("for no agent", [])):
        expect_envelope(is_refusal(refused.exchange))


MISTAKES: dict[str, Request] = {
    "wrong flag": post({"model": "{agent}", "messages": [USER], "stream": "true"}),
    "two choices": post({"model": "{agent}", "messages": [USER], "n": 2}),
    "logprobs": post({"model": "{agent}", "messages": [USER], "logprobs": True}),
    "no user message": post({"model": "{agent}", "messages": [{"role": "system", "content": "Hello"}]}),
    "wrong method": Request("PUT", PATH, (("content-type", "application/json"),), b"{}"),
}
"""Requests that are refused, or that a target may take: which of them is others' to say."""


@pytest.mark.requirement("AE-ENV-2")
def test_whatever_is_refused_is_no_server_error(
    client: Client, key: KeyFacts, agent: Agent, expect_works: Callable[[], None]
) -> None:
    """What a target cannot do, it cannot do the next time either."""
    for label, request in MISTAKES.items():
        body = request.body.replace(b"{agent}", json.dumps(agent.id)[1:-1].encode())
        answer = client.send(label, Request(request.method, request.target, request.headers, body), key=key.name)
        if answer.status is not None and answer.status >= 400:
            expect_clients_mistake(answer)
    expect_works()


@pytest.fixture
def failed(client: Client, script: Script, nonce: Callable[[str], str], key: KeyFacts, agent: Agent) -> Exchange:
    """The refusal of a turn that failed after its prompt was accepted."""
    script.answer("failure", Answer(status=400, message="I will not"), nonce=nonce("asked"))
    reply = client.send("ask", ask(agent.id, nonce("asked")), key=key.name)
    if reply.status != 502:
        raise Inconclusive(f"the failed turn was no 502: {shown(reply)}")
    return reply


@pytest.mark.requirement("AE-ENV-1")
def test_a_failed_turn_is_told_in_the_envelope(failed: Exchange, expect_works: Callable[[], None]) -> None:
    """The upstream's own error is not passed through."""
    expect_envelope(failed)
    expect_works()


NOT_AGAIN = "add `x-should-retry: false` to a 502 once a prompt was accepted"


def expect_not_again(failed: Exchange) -> None:
    """The failure says that the request is not to be made again."""
    came = failed.header("x-should-retry")
    said = (came or "").strip().lower() == "false"
    expect(said, "x-should-retry: false", came or "no such header", NOT_AGAIN, failed)


@pytest.mark.requirement("AE-ENV-3")
def test_a_failed_turn_is_not_to_be_tried_again(failed: Exchange, expect_works: Callable[[], None]) -> None:
    """The official clients try a 502 twice more by themselves."""
    expect_not_again(failed)
    expect_works()


@pytest.mark.waits
@pytest.mark.requirement("AE-ENV-3")
def test_a_failure_of_another_kind_is_not_to_be_tried_again(
    client: Client,
    script: Script,
    nonce: Callable[[str], str],
    key: KeyFacts,
    agent: Agent,
    expect_works: Callable[[], None],
) -> None:
    """A stream that never began, and a turn that was given up at the deadline: where they are a 502."""
    turns = {"streamed": Answer(status=400, message="I will not"), "late": Answer(fault="hang")}
    for label, answer in turns.items():
        script.answer(label, answer, nonce=nonce(label))
    asked = [
        client.begin(f"ask {label}", ask(agent.id, nonce(label), stream=label == "streamed"), key=key.name)
        for label in turns
    ]
    failures = [reply for reply in [call.result() for call in asked] if reply.status == 502]
    if not failures:
        raise NotMeasured("no such failure is a 502")
    for reply in failures:
        expect_not_again(reply)
    expect_works()
