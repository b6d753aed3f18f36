"""The configuration files that a run reads, and what they come to."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping
from typing import Any

from harness.fakes.kilo.rules import Rules

_NAMES = ("config.json", "kilo.json", "kilo.jsonc", "opencode.json", "opencode.jsonc")
_FOLDERS = (".opencode", ".kilocode", ".kilo")
_COMMENT = re.compile(r'("(?:\\.|[^"\\])*")|//[^\n]*|/\*.*?\*/', re.DOTALL)
_LAST_COMMA = re.compile(r'("(?:\\.|[^"\\])*")|,(?=\s*[}\]])')
_VARIABLE = re.compile(r"\{env:([^}]+)\}")


class BadConfiguration(Exception):
    """A file that is no configuration: its path, and what is wrong."""

    def __init__(self, path: str, problem: str) -> None:
        super().__init__(f"Configuration is invalid at {path}\n↳ {problem}")


def home(env: Mapping[str, str]) -> str:
    """The folder of the user's configuration where XDG folders are not set."""
    return os.path.join(env.get("HOME", "/"), ".config", "kilo")


def files(directory: str, env: Mapping[str, str], reads_user: bool = False) -> Iterator[str]:
    """The files that there are, those that win last: the user's, the parent folders', the folder's, the variable's.

    With `reads_user` those in `home` are among them whatever XDG folders are set.
    """
    given = env.get("XDG_CONFIG_HOME")
    if reads_user or not given:
        yield from _there(home(env))
    if given:
        yield from _there(os.path.join(given, "kilo"))
    if env.get("KILO_CONFIG"):
        yield from (path for path in (env["KILO_CONFIG"],) if os.path.isfile(path))
    above = [directory]
    while os.path.dirname(above[0]) != above[0]:
        above.insert(0, os.path.dirname(above[0]))
    for folder in above:
        yield from _there(folder)
    for folder in above:
        for name in _FOLDERS:
            yield from _there(os.path.join(folder, name))
    if env.get("KILO_CONFIG_DIR"):
        yield from _there(env["KILO_CONFIG_DIR"])


def _there(folder: str) -> Iterator[str]:
    for name in _NAMES:
        path = os.path.join(folder, name)
        if os.path.isfile(path):
            yield path


def read(paths: Iterator[str], env: Mapping[str, str], rules: Rules) -> dict[str, Any]:
    """What all files, and the variable KILO_CONFIG_CONTENT at last, come to.

    Raises BadConfiguration for a version that refuses to start with a bad one; others pass over it.
    """
    texts = {path: _text(path) for path in paths}
    if env.get("KILO_CONFIG_CONTENT"):
        texts["KILO_CONFIG_CONTENT"] = env["KILO_CONFIG_CONTENT"]
    merged: dict[str, Any] = {}
    for path, text in texts.items():
        try:
            merged = _merge(merged, _valid(_parse(text, path, env), path, rules))
        except BadConfiguration:
            if rules.refuses_configuration:
                raise
    return merged


def _text(path: str) -> str:
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.read()


def _valid(settings: dict[str, Any], path: str, rules: Rules) -> dict[str, Any]:
    """The settings, when this version takes them."""
    providers = settings.get("provider", {})
    if not isinstance(providers, dict):
        raise BadConfiguration(path, "Invalid input: expected record provider")
    for name, provider in providers.items():
        models = provider.get("models", {}) if isinstance(provider, dict) else None
        if not isinstance(models, dict):
            raise BadConfiguration(path, f"Invalid input: expected record provider.{name}")
        for model, entry in models.items():
            at = f"provider.{name}.models.{model}"
            if not isinstance(entry, dict):
                raise BadConfiguration(path, f"Invalid input: expected record {at}")
            limit, interleaved = entry.get("limit"), entry.get("interleaved")
            if limit is not None and not {"context", "output"} <= limit.keys():
                raise BadConfiguration(path, f"Invalid input: expected number, received undefined {at}.limit")
            field = interleaved.get("field", "") if isinstance(interleaved, dict) else ""
            if field not in rules.sent_back or rules.sent_back[field] is None:
                raise BadConfiguration(path, f"Invalid input {at}.interleaved")
    return settings


def _parse(text: str, path: str, env: Mapping[str, str]) -> dict[str, Any]:
    text = _VARIABLE.sub(lambda match: json.dumps(env.get(match[1], ""))[1:-1], text)
    bare = _LAST_COMMA.sub(_without, _COMMENT.sub(_without, text))
    try:
        value = json.loads(bare)
    except ValueError as error:
        raise BadConfiguration(path, str(error)) from error
    if not isinstance(value, dict):
        raise BadConfiguration(path, "Invalid input: expected object")
    return value


def _without(match: re.Match[str]) -> str:
    return match[1] or ""


def _merge(one: dict[str, Any], other: dict[str, Any]) -> dict[str, Any]:
    merged = dict(one)
    for key, value in other.items():
        mine = merged.get(key)
        merged[key] = _merge(mine, value) if isinstance(mine, dict) and isinstance(value, dict) else value
    return merged
