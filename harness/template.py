"""Placeholders in a target file's strings: `{port}`, `{env:NAME}`, and `{{` and `}}` for braces."""

from __future__ import annotations

import re
from collections.abc import Mapping

from harness.errors import UsageError

JSON = None | bool | int | float | str | list["JSON"] | dict[str, "JSON"]
"""A value that JSON can write."""

PLACEHOLDERS: Mapping[str, str] = {
    "python": "the Python interpreter that runs turnproof",
    "port": "a free port on which the started target is to listen (only with `[start]`)",
    "url": "the target's base URL, without a slash at its end",
    "opencode_url": "the base URL of the opencode stand-in",
    "opencode_password": "the password of the opencode stand-in, for HTTP Basic with user `opencode`",
    "model_url": "the base URL of the model stand-in, with `/v1`",
    "shims": "a folder to be put first on PATH, whose `opencode` is the stand-in (only with `[start]`)",
    "resources_url": "the base URL of the resources server stand-in, behind an agent that wraps the Kilo CLI",
    "config": "the file of the configuration that the agent is to start with (only in `start`, for `kilo-agent`)",
    "prompt": "the prompt, which comes on standard input where this is left out (only with `interface = 'command'`)",
    "deadline": "the target's declared deadline, in seconds",
    "work": "an empty folder of this run, removed after it",
    "owner_secret": "a secret made for this run, for the owner session of the started target (only with `[start]`)",
    "registry_secret": "a secret made for this run, for an agent's registry token (only with `[start]`)",
    "key": "the key that is to be revoked (only in `revoke`)",
    "key_id": "what `id_pointer` found when the key was minted (only in `revoke`)",
}
"""Every placeholder but `{env:NAME}`, and what is put in its place."""

REVOKE_ONLY = frozenset({"key", "key_id"})
"""The placeholders that have a value only while a key is being revoked."""

_TOKEN = re.compile(r"\{\{|\}\}|\{([^{}]*)\}|[{}]")
_VARIABLE = re.compile(r"env:([A-Za-z_][A-Za-z0-9_]*)\Z")


def placeholders(template: str) -> tuple[str, ...]:
    """Return the names between single braces, in order, known or not."""
    return tuple(token[1] for token in _TOKEN.finditer(template) if token[1] is not None)


def has_lone_brace(template: str) -> bool:
    """Tell whether a brace is neither doubled nor part of a placeholder."""
    return any(token[0] in ("{", "}") for token in _TOKEN.finditer(template))


def is_variable(name: str) -> bool:
    """Tell whether a placeholder's name is `env:` and the name of an environment variable."""
    return _VARIABLE.match(name) is not None


def expand(template: str, values: Mapping[str, str], environ: Mapping[str, str], where: str = "") -> str:
    """Return `template` with its placeholders replaced from `values`, and `{env:NAME}` from `environ`.

    `where` is the key in the target file, for messages. Raises UsageError when a placeholder has no value or
    an environment variable is missing or empty: CI systems hand over a secret that is not set as "".
    """

    def put(token: re.Match[str]) -> str:
        if token[0] in ("{{", "}}"):
            return token[0][0]
        if token[1] is None:
            raise UsageError(f"{_place(where)}a single brace", "Write {{ or }} for a brace.")
        return _value(token[1], values, environ, where)

    return _TOKEN.sub(put, template)


def expand_json(value: JSON, values: Mapping[str, str], environ: Mapping[str, str], where: str = "") -> JSON:
    """Return a copy of `value` with every string in it expanded, the names of members left as they are."""
    if isinstance(value, str):
        return expand(value, values, environ, where)
    if isinstance(value, list):
        return [expand_json(item, values, environ, f"{where}[{i}]") for i, item in enumerate(value)]
    if isinstance(value, dict):
        return {name: expand_json(item, values, environ, f"{where}.{name}".lstrip(".")) for name, item in value.items()}
    return value


def _value(name: str, values: Mapping[str, str], environ: Mapping[str, str], where: str) -> str:
    variable = _VARIABLE.match(name)
    if variable is None:
        if name not in values:
            raise UsageError(f"{_place(where)}{{{name}}} has no value here", f"Known here: {_listed(values)}.")
        return values[name]
    if not environ.get(variable[1]):
        raise UsageError(
            f"{_place(where)}the environment variable {variable[1]} is not set, or is empty",
            f"Set {variable[1]} before the run.",
        )
    return environ[variable[1]]


def _listed(names: Mapping[str, str]) -> str:
    return ", ".join([*(f"{{{name}}}" for name in names), "{env:NAME}"])


def _place(where: str) -> str:
    return f"{where}: " if where else ""
