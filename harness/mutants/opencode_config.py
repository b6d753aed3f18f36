"""Opencode servers that do not go by a part of their configuration or of a request, or do not come up with it."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from harness.exchange import Request
from harness.fakes.opencode.answers import json_answer
from harness.fakes.opencode.behaviour import Behaviour
from harness.mutants.mutant import Mutant, changing
from harness.mutants.opencode_changes import Body, prompts, to

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


def _on_bodies(method: str, change: Callable[[Body], Body]) -> Callable[[Request], Request]:
    """Changes the objects that are sent to sessions by a method."""

    def changed(request: Request) -> Request:
        sent = request.json()
        if request.method != method or not request.path.startswith("/session") or not isinstance(sent, dict):
            return request
        return replace(request, body=json.dumps(change(sent)).encode())

    return changed


def _plain_tools(body: Body) -> Body:
    return {**body, "tools": {name: bool(on) for name, on in body["tools"].items()}} if "tools" in body else body


def _plain_rules(body: Body) -> Body:
    odd = any(rule.get("action") == "maybe" for rule in body.get("permission") or ())
    return {key: value for key, value in body.items() if key != "permission"} if odd else body


def _text_title(body: Body) -> Body:
    return {**body, "title": str(body["title"])} if "title" in body else body


def _only_by_directory(request: Request) -> Request:
    listing = request.method == "GET" and request.path == "/session"
    return replace(request, target=request.target.partition("&")[0]) if listing else request


_vague_reply = to(
    "POST",
    "/(permission|question)/[^/]+/reply",
    lambda _r, answer, _b: json_answer({"name": "BadRequest"}, 400) if answer.status == 400 else answer,
)

CONFIG: tuple[Mutant[Behaviour], ...] = (
    changing("permission_ignored", "ignores configured permissions", "OS-CONFIG-1", obeyed=_without("permission")),
    changing("tools_ignored", "offers what is switched off", "OS-CONFIG-1", obeyed=_without("tools")),
    changing(
        "agents_ignored",
        "ignores configured agents",
        "OS-CONFIG-2",
        "OS-CONFIG-3",
        obeyed=_without("agent", "default_agent"),
    ),
    changing("model_ignored", "ignores the configured model", "OS-CONFIG-2", obeyed=_without("model")),
    changing(
        "output_limit_ignored",
        "ignores a model's limit",
        "OS-CONFIG-2",
        "OS-CONFIG-3",
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
    changing("odd_tools_taken", "takes tools that are neither on nor off", "OS-PROMPT-4", takes=prompts(_plain_tools)),
    changing("odd_rules_taken", "takes rules of any action", "OS-SESSION-6", takes=_on_bodies("POST", _plain_rules)),
    changing("odd_titles_taken", "takes titles that are none", "OS-SESSION-8", takes=_on_bodies("PATCH", _text_title)),
    changing("lists_unnarrowed", "lists all of a directory", "OS-SESSION-9", takes=_only_by_directory),
    changing("vague_reply", "does not say what is wrong with a reply", "OS-ASK-6", answer=_vague_reply),
)
