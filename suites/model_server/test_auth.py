"""What a key opens, and what it does not."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from harness.actors import Client
from harness.chat import ask
from harness.check import NotMeasured, expect
from harness.exchange import Exchange, Request
from harness.expectations import shown
from harness.model_calls import expect_answered
from harness.target import Facts
from harness.target_keys import KeyFacts

MEND = "look up each key, and the models that it may use, at every request"
STREAM = pytest.mark.parametrize("stream", [False, True], ids=["json", "stream"])


@pytest.fixture
def confined(target: Facts) -> tuple[KeyFacts, str]:
    """A key, and a model that is served and that the key may not use."""
    for key in target.keys:
        for agent in target.agents:
            if key.state == "valid" and agent.id not in key.agents:
                return key, agent.id
    raise NotMeasured("the target file names no valid key that may use only some of the models")


@pytest.fixture
def expect_key_works(client: Client, nonce: Callable[[str], str]) -> Callable[[KeyFacts], None]:
    """Expects that a key's own model answers it: who refuses everybody keeps nothing."""

    def expect_it(key: KeyFacts) -> None:
        own = client.send("own model", ask(key.agents[0], nonce("own"), max_tokens=16), key=key.name)
        expect_answered(own, f"key {key.name} and its model {key.agents[0]}")

    return expect_it


@pytest.mark.requirement("MS-AUTH-1")
@STREAM
def test_a_key_does_not_reach_another_ones_model(
    client: Client,
    nonce: Callable[[str], str],
    confined: tuple[KeyFacts, str],
    expect_key_works: Callable[[KeyFacts], None],
    stream: bool,
) -> None:
    """Not with a request for an answer, streamed or not; its own model it does reach."""
    key, model = confined
    reply = client.send("foreign model", ask(model, nonce("foreign"), stream=stream), key=key.name)
    expect(reply.status in (401, 403, 404), "401, 403 or 404 for another key's model", shown(reply), MEND, reply)
    expect_key_works(key)


@pytest.mark.requirement("MS-AUTH-1")
def test_a_key_does_not_see_another_ones_model(client: Client, target: Facts, confined: tuple[KeyFacts, str]) -> None:
    """Where models are listed, a key's list holds its own alone."""
    if "models" not in target.capabilities:
        raise NotMeasured("the target does not list models (capability models)")
    key, model = confined
    reply = client.send("list", Request("GET", "/v1/models"), key=key.name)
    if reply.status != 200:
        raise NotMeasured(f"no models are listed: {shown(reply)}")
    body = reply.json()
    data = body.get("data") if isinstance(body, dict) else None
    listed = [entry.get("id") for entry in data or () if isinstance(entry, dict)]
    own = set(key.agents) <= set(listed) and model not in listed
    expect(own, f"a list of {', '.join(key.agents)}, without {model}", shown(reply), MEND, reply)


UNKNOWN = {"no header": None, "no key": "Bearer", "an unknown key": "Bearer sk-{word}"}
STATUSES = {"an unknown key": {401}}
"""For none at all, 403 will do too."""


@pytest.mark.requirement("MS-AUTH-1")
@STREAM
@pytest.mark.parametrize("secret", UNKNOWN)
def test_a_key_that_nobody_has_opens_nothing(
    client: Client,
    nonce: Callable[[str], str],
    key: KeyFacts,
    expect_key_works: Callable[[KeyFacts], None],
    secret: str,
    stream: bool,
) -> None:
    """Streamed or not, it is refused, and the good key is not."""
    request = ask(key.agents[0], nonce("asked"), stream=stream)
    expect_unknown(client.send("asked", with_secret(request, UNKNOWN[secret], nonce("word"))), secret)
    expect_key_works(key)


@pytest.mark.requirement("MS-AUTH-1")
def test_a_key_that_nobody_has_lists_nothing(
    client: Client,
    nonce: Callable[[str], str],
    target: Facts,
    key: KeyFacts,
    expect_key_works: Callable[[KeyFacts], None],
) -> None:
    """It is 401 there too, where models are listed."""
    if "models" not in target.capabilities:
        raise NotMeasured("the target does not list models (capability models)")
    listing = with_secret(Request("GET", "/v1/models"), "Bearer sk-{word}", nonce("word"))
    expect_unknown(client.send("list", listing), "an unknown key")
    expect_key_works(key)


def with_secret(request: Request, secret: str | None, word: str) -> Request:
    """`request` with an authorization of our own making, or with none."""
    if secret is None:
        return request
    authorization = ("authorization", secret.replace("{word}", word))
    return Request(request.method, request.target, (*request.headers, authorization), request.body)


def expect_unknown(exchange: Exchange, what: str) -> None:
    """The answer is a 401, or for a request without any key a 403."""
    statuses = STATUSES.get(what, {401, 403})
    wanted = " or ".join(map(str, sorted(statuses)))
    expect(exchange.status in statuses, f"status {wanted} for {what}", shown(exchange), MEND, exchange)
