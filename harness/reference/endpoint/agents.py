"""Agents and the models behind them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from harness.reference.endpoint.envelope import Refusal

Agents = Mapping[str, str | None]
"""Agent id to `provider/model`, or None for an agent without a model."""

ONE_MODEL = "/v1/models/{id:path}"
"""The route of one model; an agent's id may hold slashes."""

_CREATED = 1_700_000_000


@dataclass(frozen=True)
class Model:
    """A model as opencode names it."""

    provider: str
    id: str


def split_model(name: str) -> Model:
    """`provider/model` cut at its first slash: the model's own id may hold more of them."""
    provider, _, model = name.partition("/")
    return Model(provider, model)


def model_of(agents: Agents, agent: str) -> Model:
    """The model of `agent`; raises `Refusal` when it has none configured."""
    name = agents[agent]
    if name is None:
        raise Refusal(400, f"The agent {agent!r} has no model configured.", param="model")
    return split_model(name)


def describe(agent: str) -> dict[str, Any]:
    """An agent as a model of the API."""
    return {"id": agent, "object": "model", "created": _CREATED, "owned_by": "agents"}
