"""What stands in `kilo.json`: built first, as data, then written."""

from __future__ import annotations

import json
from collections.abc import Mapping
from copy import deepcopy
from pathlib import Path
from typing import Any

from harness.reference.kilo.config import Config
from harness.reference.kilo.routing import PROVIDER

FILE = "kilo.json"
PLACEHOLDER = "none"
"""What stands for a key where the model server wants none."""

_OWNER_ONLY = 0o600

Settings = dict[str, Any]


def build_settings(config: Config, base_url: str | None) -> Settings | None:
    """The content of `kilo.json` for model calls to `base_url`; None when there is nothing to write.

    Without a model server (`base_url` is None) only the model is added, to a provider that the configuration declares.
    """
    settings = deepcopy(dict(config.kilo_config))
    if base_url is not None:
        return {**settings, "provider": {**settings.get("provider", {}), PROVIDER: _provider(config, base_url)}}
    name, _, model = config.model.partition("/")
    provider = settings.get("provider", {}).get(name)
    if isinstance(provider, dict):
        provider["models"] = {model: model_entry(config, model), **provider.get("models", {})}
    return settings or None


def model_entry(config: Config, model: str) -> Settings:
    """The model as a provider lists it. Kilo wants both limits, and drops reasoning unless its field is named."""
    limit = {"context": config.context_window, "output": config.max_output_tokens}
    entry: Settings = {"name": model, "limit": limit}
    if config.reasoning_field is not None:
        entry["interleaved"] = {"field": config.reasoning_field}
    return entry


def write_settings(settings: Settings, folder: Path) -> None:
    """Write `kilo.json` for the eyes of its owner alone: it may hold a key."""
    path = folder / FILE
    path.touch(_OWNER_ONLY, exist_ok=False)
    path.write_text(json.dumps(settings, indent=2) + "\n", encoding="utf-8")


def _provider(config: Config, base_url: str) -> Settings:
    """The provider of the model server. What the configuration says of it wins, except where it is."""
    own = config.kilo_config.get("provider", {}).get(PROVIDER, {})
    ours: Settings = {
        "npm": "@ai-sdk/openai-compatible",
        "name": PROVIDER,
        "options": {"baseURL": base_url, "apiKey": PLACEHOLDER},
        "models": {config.model: model_entry(config, config.model)},
    }
    merged = merge(ours, own)
    return {**merged, "options": {**merged["options"], "baseURL": base_url}}


def merge(below: Mapping[str, Any], above: Mapping[str, Any]) -> Settings:
    """Both, object by object; where they differ, `above` has its way."""
    merged = dict(below)
    for name, value in above.items():
        both = isinstance(value, Mapping) and isinstance(merged.get(name), Mapping)
        merged[name] = merge(merged[name], value) if both else deepcopy(value)
    return merged
