"""Keys are checked before anything else."""

from __future__ import annotations

from collections.abc import Callable
from urllib.parse import quote

import pytest

from harness.actors import Client
from harness.chat import ask, error_of
from harness.check import NotApplicable, NotMeasured, expect
from harness.exchange import Request
from harness.expectations import expect_refusal, shown
from harness.spoilt_keys import SPOILT
from harness.target import Agent, Facts
from harness.target_keys import KeyFacts

MODELS = Request("GET", "/v1/models")
MEND_WHOLE = "compare a key whole and exactly, as its digest is"
MEND = "answer 401 with OpenAI's error envelope before looking at the request"


def requests_to(route: str, agent: Agent) -> dict[str, Request]:
    """A request to the list of models, or to completions in both ways; each with a label."""
    if route == "models":
        return {"refused": MODELS}
    return {"refused": ask(agent.id, "Hello"), "refused, streamed": ask(agent.id, "Hello", stream=True)}


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
@pytest.mark.parametrize("how", SPOILT)
def test_a_key_that_is_nearly_right_is_refused(client: Client, key: KeyFacts, agent: Agent, how: str) -> None:
    """A key is compared whole and to the letter."""
    nearly = client.spoilt(key.name, how)
    if nearly is None:
        raise NotMeasured(f"the key {key.name} is too short to be tried {how}, or no other key then")
    for label, request in requests_to("completions", agent).items():
        refused = client.send(label, with_header(request, f"Bearer {nearly}"))
        expect_refusal(refused, {401}, f"a key {how}", MEND_WHOLE)
    expect_key_works(client, key)


@pytest.mark.requirement("AE-AUTH-1")
def test_a_single_model_is_described_to_nobody_without_a_key(
    client: Client, nonce: Callable[[str], str], key: KeyFacts, agent: Agent
) -> None:
    """The route may be left out, but not be open."""
    request = Request("GET", f"/v1/models/{quote(agent.id, safe='')}")
    described = client.send("with the key", request, key=key.name)
    if described.status != 200:
        raise NotApplicable(f"single models are not described: {shown(described)}")
    for label, authorization in (("no key", None), ("unknown key", f"Bearer sk-{nonce('unknown')}")):
        refused = client.send(label, with_header(request, authorization))
        expect_refusal(refused, {401}, f"a single model and {label}", MEND)


@pytest.mark.requirement("AE-AUTH-1")
@pytest.mark.parametrize("route", ["models", "completions"])
@pytest.mark.parametrize("state", ["expired", "revoked"])
def test_a_key_that_is_no_longer_good_is_refused(
    client: Client, target: Facts, key: KeyFacts, agent: Agent, state: str, route: str
) -> None:
    """A key that once worked is a 401 like any other bad one."""
    former = key_in_state(client, target, state)
    for label, request in requests_to(route, agent).items():
        refused = client.send(label, request, key=former)
        expect_refusal(refused, {401}, f"an {state} key" if state == "expired" else f"a {state} key", MEND)
    expect_key_works(client, key)


@pytest.mark.requirement("AE-AUTH-1")
@pytest.mark.parametrize("route", ["models", "completions"])
@pytest.mark.parametrize("state", ["expired", "revoked"])
def test_a_key_that_is_no_longer_good_looks_like_an_unknown_one(
    client: Client, nonce: Callable[[str], str], target: Facts, key: KeyFacts, agent: Agent, state: str, route: str
) -> None:
    """Status and body are the same to the letter, so that nobody learns which keys existed."""
    request = MODELS if route == "models" else ask(agent.id, "Hello")
    unknown = client.send("unknown", with_header(request, f"Bearer sk-{nonce('unknown')}"))
    expect_refusal(unknown, {401}, "an unknown key", MEND, code="invalid_api_key")
    former = client.send("former", request, key=key_in_state(client, target, state))
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
