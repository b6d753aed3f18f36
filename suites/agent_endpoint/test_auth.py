"""Keys are checked before anything else."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from harness.actors import Client
from harness.chat import ask, error_of
from harness.check import NotMeasured, expect
from harness.exchange import Request
from harness.expectations import expect_refusal, shown
from harness.target import Agent, Facts
from harness.target_keys import KeyFacts

MODELS = Request("GET", "/v1/models")
MEND = "answer 401 with OpenAI's error envelope before looking at the request"


def with_header(request: Request, authorization: str | None) -> Request:
    """`request` with an Authorization header, when there is one."""
    extra = (("authorization", authorization),) if authorization is not None else ()
    return Request(request.method, request.target, (*request.headers, *extra), request.body)


@pytest.mark.requirement("AE-AUTH-1")
@pytest.mark.parametrize("route", ["models", "completions"])
@pytest.mark.parametrize(
    "authorization",
    [
        pytest.param(None, id="no header"),
        pytest.param("Bearer", id="empty key"),
        pytest.param("{key}", id="key without a scheme"),
        pytest.param("Basic {key}", id="another scheme"),
        pytest.param("Bearer {key}x", id="key with a tail"),
        pytest.param("Bearer {unknown}", id="unknown key"),
    ],
)
def test_a_request_without_a_good_key_is_refused(
    client: Client,
    nonce: Callable[[str], str],
    key: KeyFacts,
    agent: Agent,
    route: str,
    authorization: str | None,
) -> None:
    """Each way to have no good key is a 401, while the good key works."""
    request = MODELS if route == "models" else ask(agent.id, "Hello")
    if authorization is not None:
        unknown = f"sk-{nonce('unknown')}"
        authorization = authorization.replace("{key}", client.secret(key.name)).replace("{unknown}", unknown)
    refused = client.send("refused", with_header(request, authorization))
    expect_refusal(refused, {401}, "a request without a good key", MEND)
    expect_key_works(client, key)


@pytest.mark.requirement("AE-AUTH-1")
@pytest.mark.parametrize("route", ["models", "completions"])
@pytest.mark.parametrize("state", ["expired", "revoked"])
def test_a_key_that_is_no_longer_good_is_refused(
    client: Client, target: Facts, key: KeyFacts, agent: Agent, state: str, route: str
) -> None:
    """A key that once worked is a 401 like any other bad one."""
    request = MODELS if route == "models" else ask(agent.id, "Hello")
    refused = client.send("refused", request, key=key_in_state(client, target, state))
    expect_refusal(refused, {401}, f"an {state} key" if state == "expired" else f"a {state} key", MEND)
    expect_key_works(client, key)


@pytest.mark.requirement("AE-AUTH-1")
@pytest.mark.parametrize("state", ["expired", "revoked"])
def test_a_key_that_is_no_longer_good_looks_like_an_unknown_one(
    client: Client, nonce: Callable[[str], str], target: Facts, key: KeyFacts, state: str
) -> None:
    """Status and body are the same to the letter, so that nobody learns which keys existed."""
    unknown = client.send("unknown", with_header(MODELS, f"Bearer sk-{nonce('unknown')}"))
    expect_refusal(unknown, {401}, "an unknown key", MEND, code="invalid_api_key")
    former = client.send("former", MODELS, key=key_in_state(client, target, state))
    expect(
        (former.status, former.body) == (unknown.status, unknown.body),
        f"the same answer as for an unknown key: {shown(unknown)}",
        shown(former),
        "give every bad key one and the same refusal",
        former,
    )
    expect(error_of(former).get("code") == "invalid_api_key", "code invalid_api_key", shown(former), MEND, former)
    expect_key_works(client, key)


def key_in_state(client: Client, target: Facts, state: str) -> str:
    """The name of a key in `state`; not measured when the target cannot give one."""
    for key in target.keys:
        if key.state == state and client.has(key.name):
            return key.name
    raise NotMeasured(f"the target gives no {state} key: add one to [[keys]]")


def expect_key_works(client: Client, key: KeyFacts) -> None:
    """The good key is accepted: a target that refuses everybody keeps nothing."""
    accepted = client.send("accepted", MODELS, key=key.name)
    expect(accepted.status == 200, f"the good key {key.name} to be accepted", shown(accepted), "accept it", accepted)
