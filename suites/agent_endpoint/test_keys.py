"""Keys are the owner's to make and to end."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from harness.actors import Client, Clock
from harness.chat import ask
from harness.check import Inconclusive, expect
from harness.exchange import Exchange, Request
from harness.expectations import expect_completion, expect_refusal, shown
from harness.key_desk import By
from harness.minter import Minted, Minter
from harness.target import Agent
from harness.target_keys import KeyFacts

MEND_OWNER = "mint keys for the owner's session only; a token that acts for an agent must not widen its rights"
MEND_WORKS = "let a key work from the moment it is handed out"
MEND_SECRET = "keep a digest of the secret, and show the secret in the answer that makes the key alone"
MEND_AGENTS = "check every id of agent_ids against the owner's agents before a key is made"
MEND_ENDED = "look a key's state up at every request, on every route"

MODELS = Request("GET", "/v1/models")


@pytest.fixture
def minted(minter: Minter, agent: Agent) -> Minted:
    """A key for one agent, minted by the owner."""
    return expect_minted(minter.mint("mint", [agent.id]))


def expect_minted(minted: Minted) -> Minted:
    """The owner got a key; nothing can be said of keys otherwise."""
    status = minted.exchange.status
    if status is None or not 200 <= status < 300 or not minted.secret:
        raise Inconclusive(f"the owner could not mint a key as [mint] describes: {shown(minted.exchange)}")
    return minted


def use(client: Client, label: str, request: Request, minted: Minted) -> Exchange:
    """Send `request` with a minted key."""
    bearer = ("authorization", f"Bearer {minted.secret}")
    return client.send(label, Request(request.method, request.target, (*request.headers, bearer), request.body))


def expect_no_key(client: Client, minted: Minted, why: str, mend: str) -> None:
    """The answer to a mint request holds no key that works."""
    if minted.secret:
        used = use(client, "use of what was refused", MODELS, minted)
        expect(used.status == 401, f"no working key for {why}", shown(used), mend, used)


@pytest.mark.requirement("AE-KEYS-1")
@pytest.mark.parametrize("by", ["nobody", "agent", "model key"])
def test_only_an_owner_can_mint(client: Client, minter: Minter, key: KeyFacts, agent: Agent, by: str) -> None:
    """Anybody else is refused, and the owner's list holds no key more than before."""
    _, before = minter.list("before")
    who: By = "agent" if by == "agent" else "nobody"
    refused = minter.mint("refused", [agent.id], by=who, key=key.name if by == "model key" else None)
    status = refused.exchange.status
    why = {"nobody": "nobody's session", "agent": "an agent's registry token", "model key": "a model key"}[by]
    expect(status in (401, 403), f"401 or 403 for {why}", shown(refused.exchange), MEND_OWNER, refused.exchange)
    expect_no_key(client, refused, why, MEND_OWNER)
    listed, after = minter.list("after")
    expect(after == before, f"{before} keys after the refusal", f"{after} keys", MEND_OWNER, listed)
    expect_minted(minter.mint("by the owner", [agent.id]))
    _, with_one_more = minter.list("with one more")
    if with_one_more <= after:
        raise Inconclusive("the list does not grow with a new key, so that nothing can be told from it")


@pytest.mark.requirement("AE-KEYS-2")
def test_a_minted_key_works_at_once(client: Client, nonce: Callable[[str], str], agent: Agent, minted: Minted) -> None:
    """It lists the agent it was made for, and gets that agent's answer."""
    listed = use(client, "models", MODELS, minted)
    body = listed.json()
    data = body.get("data") if isinstance(body, dict) else None
    ids = [entry.get("id") for entry in data or () if isinstance(entry, dict)]
    expect(listed.status == 200 and agent.id in ids, f"a list with {agent.id!r}", shown(listed), MEND_WORKS, listed)
    reply = use(client, "completion", ask(agent.id, nonce("asked")), minted)
    expect(reply.status == 200, "an answer to a new key", shown(reply), MEND_WORKS, reply)
    expect_completion(reply, "a new key")


@pytest.mark.requirement("AE-KEYS-2")
def test_a_secret_is_shown_once(minter: Minter, minted: Minted) -> None:
    """The list holds the key, but not its secret."""
    listed, count = minter.list("list")
    if not count:
        raise Inconclusive("the list holds no key, although one was minted")
    shown_again = str(minted.secret) in listed.text
    expect(not shown_again, "a list without the secret", "the secret in the list", MEND_SECRET, listed)


@pytest.mark.requirement("AE-KEYS-2")
def test_a_secret_is_not_stored_in_clear(client: Client, minter: Minter, minted: Minted) -> None:
    """Who reads the store gets no key."""
    used = use(client, "use", MODELS, minted)
    expect(used.status == 200, "the new key to work", shown(used), MEND_WORKS, used)
    clear = minter.is_stored_in_clear("store", str(minted.secret))
    expect(not clear, "a store without the secret", "the secret in the store, in clear", MEND_SECRET, minted.exchange)


WRONG_AGENTS: dict[str, Any] = {
    "empty": [],
    "null": None,
    "string": "{agent}",
    "number": 1,
    "object": {"{agent}": True},
    "unknown": ["{unknown}"],
    "known and unknown": ["{agent}", "{unknown}"],
    "no string": [1],
}


@pytest.mark.requirement("AE-KEYS-3")
@pytest.mark.parametrize("agent_ids", WRONG_AGENTS.values(), ids=WRONG_AGENTS.keys())
def test_a_key_is_minted_for_agents_of_the_owner_only(
    client: Client, minter: Minter, nonce: Callable[[str], str], agent: Agent, agent_ids: Any
) -> None:
    """A wrong list of agents is refused whole, and the owner's list holds no key more than before."""
    _, before = minter.list("before")
    text = json.dumps(agent_ids).replace("{unknown}", nonce("unknown"))
    refused = minter.mint("refused", json.loads(text.replace("{agent}", agent.id)))
    why = f"agent_ids {text}"
    status = refused.exchange.status
    expect(status in (400, 404), f"400 or 404 for {why}", shown(refused.exchange), MEND_AGENTS, refused.exchange)
    expect_no_key(client, refused, why, MEND_AGENTS)
    listed, after = minter.list("after")
    expect(after == before, f"{before} keys after the refusal", f"{after} keys", MEND_AGENTS, listed)
    expect_minted(minter.mint("for an agent of the owner", [agent.id]))


@pytest.mark.requirement("AE-KEYS-4")
@pytest.mark.parametrize("route", ["models", "completions"])
def test_a_revoked_key_is_refused_from_the_next_request_on(
    client: Client, minter: Minter, nonce: Callable[[str], str], agent: Agent, minted: Minted, route: str
) -> None:
    """It worked a moment ago, and does not any more."""
    request = MODELS if route == "models" else ask(agent.id, nonce("asked"))
    before = use(client, "before", request, minted)
    expect(before.status == 200, "the key to work before it is revoked", shown(before), MEND_WORKS, before)
    revoked = minter.revoke("revoke", minted)
    if revoked.status is None or not 200 <= revoked.status < 300:
        raise Inconclusive(f"the key could not be revoked as [mint.revoke] describes: {shown(revoked)}")
    expect_refusal(use(client, "after", request, minted), {401}, f"a revoked key on {route}", MEND_ENDED)
    if route == "completions":
        streamed = use(client, "after, streamed", ask(agent.id, nonce("asked"), stream=True), minted)
        expect_refusal(streamed, {401}, "a revoked key on completions, streamed", MEND_ENDED)


@pytest.mark.waits
@pytest.mark.requirement("AE-KEYS-4")
def test_an_expired_key_is_refused_from_the_next_request_on(
    client: Client, minter: Minter, clock: Clock, nonce: Callable[[str], str], agent: Agent
) -> None:
    """It works while its time lasts, also when it was used before; on each route a key of its own is tried."""
    asked = nonce("asked")
    requests = {
        "models": MODELS,
        "completions": ask(agent.id, asked),
        "completions, streamed": ask(agent.id, asked, stream=True),
    }
    keys = {route: expect_minted(minter.mint(f"mint for {route}", [agent.id], expiring=True)) for route in requests}
    for route, minted in keys.items():
        before = use(client, f"before: {route}", MODELS, minted)
        expect(before.status == 200, "the key to work before it expires", shown(before), MEND_WORKS, before)
    clock.sleep("until they expire", max(float(minted.lifetime or 0) for minted in keys.values()) + 0.1)
    for route, minted in keys.items():
        after = use(client, f"after: {route}", requests[route], minted)
        expect_refusal(after, {401}, f"an expired key on {route}", MEND_ENDED)
