"""The part of opencode's configuration that the stand-in obeys: providers with their addresses, keys, headers and
models, the models that are used unasked, the agents, and what they may do."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from harness.exchange import Headers
from harness.fakes.opencode.rules import NATIVE, Rule, configured, native, switched

MAX_TOKENS = 32000
"""The most that is asked of any model; what is asked of one whose limit is not configured."""

ModelRef = dict[str, str]
"""A model of a provider: `providerID` and `modelID`."""


@dataclass(frozen=True)
class Provider:
    """Where a provider's models are called, with which key and headers, and how much each may answer, by its name.

    `name` is how it is shown, and `limits` are those of each model as they are configured.
    """

    base_url: str
    api_key: str
    models: Mapping[str, int]
    headers: Headers = ()
    name: str = ""
    limits: Mapping[str, Mapping[str, int]] = field(default_factory=dict)


@dataclass(frozen=True)
class Agent:
    """An agent: its rules, its own system text and model, what its calls have besides, and how it is shown."""

    name: str
    rules: tuple[Rule, ...]
    prompt: str | None = None
    model: ModelRef | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    mode: str = "all"
    description: str | None = None


@dataclass(frozen=True)
class Settings:
    """What is configured. The default agent is the first of `agents`; `model` is the default one, `small_model` makes
    titles."""

    providers: Mapping[str, Provider]
    agents: Mapping[str, Agent]
    model: ModelRef | None = None
    small_model: ModelRef | None = None

    @property
    def default_agent(self) -> str:
        """The agent of a prompt that names none."""
        return next(iter(self.agents))

    def max_tokens(self, model: Mapping[str, Any]) -> int:
        """How much a configured model may answer."""
        return self.providers[model["providerID"]].models[model["modelID"]]

    def knows(self, model: Mapping[str, Any]) -> bool:
        """Whether a model is configured."""
        provider = self.providers.get(model["providerID"])
        return provider is not None and model["modelID"] in provider.models


def settings_of(config: Mapping[str, Any]) -> Settings:
    """What a configuration says; raises ValueError for one of the wrong shape."""
    _check(config)
    models = [_model(config.get(key)) for key in ("model", "small_model")]
    return Settings(_providers(config), _agents(config), *models)


def _providers(config: Mapping[str, Any]) -> dict[str, Provider]:
    """The providers by id; one that is left out of `enabled_providers`, or is in `disabled_providers`, is not there."""
    enabled, disabled = config.get("enabled_providers"), config.get("disabled_providers") or ()
    found = {}
    for id_, entry in config.get("provider", {}).items():
        if (enabled is None or id_ in enabled) and id_ not in disabled:
            options = entry.get("options", {})
            models = {name: _limit(model) for name, model in entry.get("models", {}).items()}
            limits = {name: model.get("limit", {}) for name, model in entry.get("models", {}).items()}
            key, headers = str(options.get("apiKey", "")), tuple(options.get("headers", {}).items())
            url, name = str(options.get("baseURL", "")), str(entry.get("name", id_))
            found[id_] = Provider(url, key, models, headers, name, limits)
    return found


def _limit(model: Mapping[str, Any]) -> int:
    return min(int(model.get("limit", {}).get("output", 0)), MAX_TOKENS) or MAX_TOKENS


def _agents(config: Mapping[str, Any]) -> dict[str, Agent]:
    """The agents by name, the default one first; one that is disabled is not there."""
    entries: dict[str, Any] = {**dict.fromkeys(NATIVE), **config.get("agent", {})}
    first = str(config.get("default_agent", NATIVE[0]))
    names = sorted(entries, key=lambda name: (name != first, name))
    agents = (_agent(name, entries[name] or {}, config) for name in names if not (entries[name] or {}).get("disable"))
    return {agent.name: agent for agent in agents}


def _agent(name: str, entry: Mapping[str, Any], config: Mapping[str, Any]) -> Agent:
    rules = [
        rule for said in (config, entry) for rule in (*switched(said.get("tools")), *configured(said.get("permission")))
    ]
    options = {key: entry[key] for key in ("top_p",) if key in entry} | entry.get("options", {})
    told = (entry.get("mode", "all"), entry.get("description"))
    return Agent(name, (*native(name), *rules), entry.get("prompt"), _model(entry.get("model")), options, *told)


def _model(name: str | None) -> ModelRef | None:
    if name is None:
        return None
    provider, _, model = name.partition("/")
    return {"providerID": provider, "modelID": model}


def _check(config: Mapping[str, Any]) -> None:
    """Raise ValueError, in opencode's words, where what must be an object is none."""
    for key in ("provider", "agent"):
        _check_object(config, key)
        for name, entry in config.get(key, {}).items():
            _check_object(config[key], name, key)
            for inner in ("models", "options") if key == "provider" else ("options",):
                _check_object(entry, inner, key, name)
            for model in entry.get("models", {}):
                _check_object(entry["models"], model, key, name, "models")


def _check_object(holder: Mapping[str, Any], key: str, *path: str) -> None:
    value = holder.get(key, {})
    if not isinstance(value, dict):
        raise ValueError(f"Expected object | undefined, got {json.dumps(value)} {'.'.join((*path, key))}")


def merged(*settings: Mapping[str, Any]) -> dict[str, Any]:
    """Configurations laid over each other, the later over the earlier, object by object."""
    result: dict[str, Any] = {}
    for layer in settings:
        for key, value in layer.items():
            below = result.get(key)
            both = isinstance(below, dict) and isinstance(value, dict)
            result[key] = merged(below or {}, value) if both else value
    return result
