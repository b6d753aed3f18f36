"""Whose mistake it is does not depend on whether opencode is up."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from harness.actors import Client, Script
from harness.chat import PATH, ask, post
from harness.check import Inconclusive, expect
from harness.exchange import Request
from harness.expectations import expect_refusal, shown
from harness.tap_script import Reply
from harness.target import Agent, Facts
from harness.target_keys import KeyFacts

MEND_KEY = "check the key before anything else"
MEND_MISTAKE = "check the whole request before opencode is asked, started or waited for"

DOWN = tuple(Reply(method, ".*", 503, {"name": "Unavailable"}, times=1_000_000) for method in ("GET", "POST"))
USER = {"role": "user", "content": "Hello"}
NO_JSON = Request("POST", PATH, (("content-type", "application/json"),), b"{")


@pytest.fixture
def upstream_down(client: Client, script: Script, key: KeyFacts, agent: Agent) -> None:
    """opencode answers nothing but 503, as two good requests show."""
    script.tamper("down", *DOWN)
    for label in ("good", "good again"):
        good = client.send(label, ask(agent.id, "Hello"), key=key.name)
        if good.status is None or good.status < 500:
            raise Inconclusive(f"a good request did not fail although opencode is down: {shown(good)}")


def mistakes(target: Facts, key: KeyFacts, agent: Agent) -> dict[str, Request]:
    """Requests that are wrong in themselves; a wrong flag is where the target does not declare to take it for false."""
    body: dict[str, Any] = {"model": agent.id, "messages": [USER]}
    modelless = [other.id for other in target.agents if other.no_model and other.id in key.agents]
    rejects = target.policies.non_boolean_stream == "reject"
    return {
        **({"an agent without a model": ask(modelless[0], "Hello")} if modelless else {}),
        **({"a wrong stream flag": post({**body, "stream": "true"})} if rejects else {}),
        "no user message": post({**body, "messages": [{"role": "system", "content": "Hello"}]}),
        "no JSON": NO_JSON,
        "no messages": post({"model": agent.id}),
        "wrong content": ask(agent.id, 1),
        "unknown model": post({**body, "model": f"{agent.id}-nobody"}),
        "unknown model, streamed": post({**body, "model": f"{agent.id}-nobody", "stream": True}),
    }


@pytest.mark.requirement("AE-REQ-8")
@pytest.mark.usefixtures("upstream_down")
def test_a_mistake_of_the_client_is_its_own_while_the_upstream_is_down(
    client: Client, target: Facts, key: KeyFacts, agent: Agent
) -> None:
    """A 502 would make the client try again what can never work."""
    for label, request in mistakes(target, key, agent).items():
        refused = client.send(label, request, key=key.name)
        why = f"{label} while opencode is down"
        own = refused.status is not None and 400 <= refused.status < 500
        expect(own, f"a 4xx for {why}", shown(refused), MEND_MISTAKE, refused)
        expect_refusal(refused, {refused.status or 0}, why, MEND_MISTAKE)


@pytest.mark.requirement("AE-REQ-8")
@pytest.mark.usefixtures("upstream_down")
@pytest.mark.parametrize("given", ["no key", "unknown key"])
def test_a_bad_key_is_refused_as_such_while_the_upstream_is_down(
    client: Client, nonce: Callable[[str], str], agent: Agent, given: str
) -> None:
    """The key is looked at here, not upstream."""
    good = ask(agent.id, "Hello")
    refused = client.send("bad key", with_key(good, nonce, given))
    expect_refusal(refused, {401}, f"{given} while opencode is down", MEND_KEY)


@pytest.mark.requirement("AE-REQ-8")
@pytest.mark.parametrize("given", ["no key", "unknown key"])
def test_a_bad_key_is_refused_whatever_else_is_wrong(
    client: Client,
    nonce: Callable[[str], str],
    target: Facts,
    key: KeyFacts,
    agent: Agent,
    expect_works: Callable[[], None],
    given: str,
) -> None:
    """Who has no key learns nothing about requests."""
    for label, request in mistakes(target, key, agent).items():
        refused = client.send(label, with_key(request, nonce, given))
        expect_refusal(refused, {401}, f"{given} and {label}", MEND_KEY)
    expect_works()


def with_key(request: Request, nonce: Callable[[str], str], given: str) -> Request:
    """`request` with no key, or one that nobody knows."""
    headers = (("authorization", f"Bearer sk-{nonce('unknown')}"),) if given == "unknown key" else ()
    return Request(request.method, request.target, (*request.headers, *headers), request.body)
