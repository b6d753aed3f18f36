"""Opencode servers that do not go by a part of their configuration or of a request, or do not come up with it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from harness.fakes.opencode.behaviour import Behaviour
from harness.mutants.mutant import Mutant, changing
from harness.mutants.opencode_changes import Body

Config = Mapping[str, Any]


def _without(*names: str) -> Callable[[Config], Config]:
    return lambda config: {name: said for name, said in config.items() if name not in names}


def _of_models(**changes: Any) -> Callable[[Config], Config]:
    """A configuration whose providers have other values."""

    def changed(config: Config) -> Config:
        return {**config, "provider": {name: _changed(entry, changes) for name, entry in config["provider"].items()}}

    return changed


def _changed(entry: Config, changes: Config) -> Config:
    return {**entry, **{key: change(entry[key]) for key, change in changes.items()}}


def _joined(body: Body) -> Body:
    return {**body, "messages": [_of_one_text(message) for message in body["messages"]]}


def _of_one_text(message: Body) -> Body:
    content = message["content"]
    return {**message, "content": "".join(part["text"] for part in content)} if isinstance(content, list) else message


CONFIG: tuple[Mutant[Behaviour], ...] = (
    changing("permission_ignored", "ignores configured permissions", "OS-CONFIG-1", obeyed=_without("permission")),
    changing("tools_ignored", "offers what is switched off", "OS-CONFIG-1", obeyed=_without("tools")),
    changing("agents_ignored", "ignores configured agents", "OS-CONFIG-2", obeyed=_without("agent", "default_agent")),
    changing("model_ignored", "ignores the configured model", "OS-CONFIG-2", obeyed=_without("model")),
    changing(
        "output_limit_ignored",
        "ignores a model's limit",
        "OS-CONFIG-2",
        obeyed=_of_models(models=lambda models: {name: {} for name in models}),
    ),
    changing(
        "headers_ignored",
        "ignores a provider's headers",
        "OS-CONFIG-2",
        obeyed=_of_models(options=lambda options: {**options, "headers": {}}),
    ),
    changing("parts_joined", "joins text parts", "OS-PARTS-1", model_call=_joined),
    changing("comments_refused", "takes plain JSON only", "OS-START-1", takes_comments=False),
    changing("options_refused", "knows no options but the address", "OS-START-1", knows_options=False),
    changing("head_filled", "answers HEAD with the page", "OS-SURFACE-4", fills_head=True),
)
