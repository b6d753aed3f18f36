"""What an owner may ask of keys, and what is told of them."""

from __future__ import annotations

import hmac
from typing import Any

from harness.reference.endpoint.access import bearer, unauthorized
from harness.reference.endpoint.agents import Agents
from harness.reference.endpoint.config import Config
from harness.reference.endpoint.envelope import Refusal
from harness.reference.endpoint.keys import Key


def check_owner(header: str | None, config: Config) -> None:
    """Raise `Refusal` unless an `Authorization` header is the owner's: an agent must not widen its own rights."""
    token = bearer(header).encode()
    if hmac.compare_digest(token, config.owner_token.encode()):
        return
    registry = config.registry_token
    if registry is not None and hmac.compare_digest(token, registry.encode()):
        raise Refusal(403, "An agent cannot manage keys.", type="permission_error", code="owner_required")
    raise unauthorized("The owner's session is needed.")


def read_agent_ids(value: object, agents: Agents) -> tuple[str, ...]:
    """The agents of a new key, each once; raises `Refusal` unless all are the owner's."""
    if not isinstance(value, list) or not value or not all(isinstance(item, str) for item in value):
        raise Refusal(400, "`agent_ids` must be a list of agent ids that is not empty.", param="agent_ids")
    if any(item not in agents for item in value):
        raise Refusal(404, "`agent_ids` names an agent that does not exist.", param="agent_ids")
    return tuple(dict.fromkeys(value))


def describe_key(key: Key, secret: str | None) -> dict[str, Any]:
    """What the owner is told of a key; `secret` is given once, when it is new."""
    described = {
        "id": key.id,
        "agent_ids": list(key.agent_ids),
        "created_at": key.created_at,
        "expires_at": key.expires_at,
        "rate_cap": key.rate_cap,
        "revoked": key.revoked,
    }
    return described if secret is None else {**described, "key": secret}
