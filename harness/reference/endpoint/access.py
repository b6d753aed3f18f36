"""Who may ask, and for which agents."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from harness.reference.endpoint.agents import Agents
from harness.reference.endpoint.envelope import Refusal
from harness.reference.endpoint.keys import Key, KeyStore

if TYPE_CHECKING:
    from harness.reference.endpoint.parts import Parts


def bearer(header: str | None) -> str:
    """The token of an `Authorization: Bearer` header, the scheme in any case; empty when there is none."""
    scheme, _, token = (header or "").strip().partition(" ")
    return token.strip() if scheme.lower() == "bearer" else ""


def authenticate(header: str | None, store: KeyStore, now: float, parts: Parts) -> Key:
    """The key in an `Authorization` header; raises `Refusal` unless it is in force at `now` (epoch seconds)."""
    token = bearer(header)
    if not token:
        raise unauthorized("No API key given: send it as `Authorization: Bearer <key>`.")
    key = store.find(token)
    if key is None or not parts.accepts(key, now):
        raise parts.refuse_key(key)
    return key


def accepts(key: Key, now: float) -> bool:
    """Whether `key` is in force at `now` (epoch seconds)."""
    return not key.revoked and (key.expires_at is None or now < key.expires_at)


def refuse_key(_key: Key | None) -> Refusal:
    """The same for unknown, expired and revoked keys: a guesser learns nothing about which keys there were."""
    return unauthorized("The API key is not valid.")


def unauthorized(message: str) -> Refusal:
    """A refusal that asks for a key."""
    return Refusal(401, message, code="invalid_api_key", headers={"www-authenticate": "Bearer"})


def in_scope(key: Key, agents: Agents, agent: str) -> bool:
    """Whether `key` may use `agent`: ids are compared whole and exactly."""
    return agent in key.agent_ids and agent in agents


def list_agents(key: Key, agents: Agents) -> list[str]:
    """The agents that a key's list of models holds."""
    return [agent for agent in key.agent_ids if in_scope(key, agents, agent)]


def no_such_model(agent: str) -> Refusal:
    """The same for agents that do not exist and for those that the key may not use."""
    message = f"The model {agent!r} does not exist or you do not have access to it."
    return Refusal(404, message, code="model_not_found", param="model")


async def refuse_agent(agent: str, _drive: Callable[[], Awaitable[object]]) -> Refusal:
    """What a request for an agent out of scope gets, although the second argument would run its turn."""
    return no_such_model(agent)
