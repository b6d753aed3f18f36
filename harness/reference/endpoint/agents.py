"""Agents and the models behind them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from harness.reference.endpoint.envelope import Refusal

Agents = Mapping[str, str | None]
"""Agent id to `provider/model`, or None for an agent without a model."""


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
