"""What is configured, as the server tells it: its providers with their models, its agents, and where it works.

Of the agents that opencode brings along itself, it is told what tells them apart, and not their prompts.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from harness.fakes.opencode.rules import NATIVE, native
from harness.fakes.opencode.settings import Agent, Provider, Settings

_MODES = {"general": "subagent", "explore": "subagent"}
_HIDDEN = ("compaction", "summary", "title")
_TEXT_ALONE = {"text": True, "audio": False, "image": False, "video": False, "pdf": False}
_CAPABILITIES: Mapping[str, Any] = {
    "temperature": False,
    "reasoning": False,
    "attachment": False,
    "toolcall": True,
    "input": _TEXT_ALONE,
    "output": _TEXT_ALONE,
    "interleaved": False,
}


def providers(settings: Settings) -> dict[str, Any]:
    """The answer to GET /config/providers; the default model of a provider is the last one by its id."""
    found = [_provider(id_, provider) for id_, provider in settings.providers.items()]
    default = {id_: max(provider.models) for id_, provider in settings.providers.items() if provider.models}
    return {"providers": found, "default": default}


def _provider(id_: str, provider: Provider) -> dict[str, Any]:
    options: dict[str, Any] = {"baseURL": provider.base_url, "apiKey": provider.api_key}
    if provider.headers:
        options["headers"] = dict(provider.headers)
    models = {model: _model(id_, model, provider.limits[model]) for model in provider.models}
    return {"id": id_, "name": provider.name, "source": "config", "env": [], "options": options, "models": models}


def _model(provider: str, model: str, limit: Mapping[str, int]) -> dict[str, Any]:
    return {
        "id": model,
        "providerID": provider,
        "api": {"id": model, "url": "", "npm": "@ai-sdk/openai-compatible"},
        "name": model,
        "family": "",
        "capabilities": _CAPABILITIES,
        "cost": {"input": 0, "output": 0, "cache": {"read": 0, "write": 0}},
        "limit": {"context": 0, "output": 0, **limit},
        "status": "active",
        "options": {},
        "headers": {},
        "release_date": "",
        "variants": {},
    }


def agents(settings: Settings) -> list[dict[str, Any]]:
    """The answer to GET /agent: the default one first, the others by name."""
    hidden = [{"name": name, "mode": "primary", "native": True, "hidden": True, **_rules(name)} for name in _HIDDEN]
    first, *others = (_agent(agent) for agent in settings.agents.values())
    return [first, *sorted([*others, *hidden], key=lambda agent: str(agent["name"]))]


def _agent(agent: Agent) -> dict[str, Any]:
    told: dict[str, Any] = {"name": agent.name, "mode": agent.mode, "native": agent.name in NATIVE}
    if agent.name in NATIVE:
        told["mode"] = _MODES.get(agent.name, "primary")
    more = {"description": agent.description, "prompt": agent.prompt, "model": agent.model}
    told |= {key: value for key, value in more.items() if value is not None}
    return {**told, "permission": list(agent.rules), "options": dict(agent.options)}


def _rules(name: str) -> dict[str, Any]:
    return {"permission": native(name), "options": {}}


def path(home: Path, directory: str) -> dict[str, str]:
    """The answer to GET /path, for a directory that is in no repository."""
    state, config = home / ".local" / "state" / "opencode", home / ".config" / "opencode"
    return {
        "home": str(home),
        "state": str(state),
        "config": str(config),
        "worktree": "/",
        "directory": directory,
    }
