"""The part of opencode's configuration that the stand-in obeys: providers with their addresses, keys and models."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Provider:
    """Where a provider's models are called, with which key, and under which names."""

    base_url: str
    api_key: str
    models: frozenset[str]


def providers_of(settings: Mapping[str, Any]) -> dict[str, Provider]:
    """The configured providers by id; one that is left out of `enabled_providers` is not there."""
    enabled = settings.get("enabled_providers")
    found = {}
    for id_, entry in settings.get("provider", {}).items():
        if enabled is None or id_ in enabled:
            options = entry.get("options", {})
            key = str(options.get("apiKey", ""))
            found[id_] = Provider(str(options.get("baseURL", "")), key, frozenset(entry.get("models", {})))
    return found


def merged(*settings: Mapping[str, Any]) -> dict[str, Any]:
    """Configurations laid over each other, the later over the earlier, object by object."""
    result: dict[str, Any] = {}
    for layer in settings:
        for key, value in layer.items():
            below = result.get(key)
            both = isinstance(below, dict) and isinstance(value, dict)
            result[key] = merged(below or {}, value) if both else value
    return result
