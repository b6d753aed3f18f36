"""The rules of a target file that its schema cannot say.

Each rule looks at data that may break the schema as well, so that one run names every problem; a part of the
wrong type is the schema's to report and is passed over here.
"""

from __future__ import annotations

import datetime
import difflib
import math
import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from harness.errors import UsageError
from harness.literal_secrets import holds_secrets, is_secret
from harness.target_kinds import kind_problems
from harness.target_schema import Problem, shown_value, suggestion
from harness.target_url import base_url
from harness.template import PLACEHOLDERS, REVOKE_ONLY, has_lone_brace, is_variable, placeholders
from harness.toml_lines import KeyPath

KEY_SOURCES = ("env", "command", "mint")
ENDPOINT, KILO_AGENT = "agent-endpoint", "kilo-agent"
_NOT_STARTED_BY_FILE = ("opencode-server", "kilo-cli")
_WITHOUT_START = {"port", "shims", "owner_secret", "registry_secret"}
_OF_ENDPOINTS = {"opencode_url", "opencode_password", "shims"}
_OF_OPENCODE = ("opencode_url", "opencode_password")
_OF_AGENTS = {"resources_url", "config", "prompt"}
_STATES = ("valid", "expired", "revoked")


def rule_problems(data: Mapping[str, Any]) -> set[Problem]:
    """Return what in the data of a target file breaks a rule beyond the schema."""
    return {
        *_where_it_runs(data),
        *_kilo_agent(data),
        *_readiness(data),
        *_agents(data),
        *_keys(data),
        *_leaves(data),
        *_waivers(data),
        *kind_problems(data),
    }


def variables(data: Mapping[str, Any]) -> Iterator[tuple[KeyPath, str]]:
    """Every environment variable that a target file needs, with the place that names it.

    Those of expired and revoked keys are not among them: such a key may be left out.
    """
    for path, leaf in _walk((), data):
        if isinstance(leaf, str) and _known_placeholders(path, data) is not None:
            for name in filter(is_variable, placeholders(leaf)):
                yield path, name.removeprefix("env:")
    for index, key in _tables(data, "keys"):
        if key.get("state") == "valid" and "env" in key:
            yield ("keys", index, "env"), key["env"]


def _kilo_agent(data: Mapping[str, Any]) -> Iterator[Problem]:
    """How an agent that wraps the Kilo CLI is told what it is to do."""
    if data.get("kind") != KILO_AGENT:
        return
    if data.get("interface") == "command" and "ready" in data:
        yield Problem(("ready",), 'is not for interface = "command", which is started for each prompt: remove it')
    start = data.get("start")
    if not isinstance(start, dict) or data.get("configuration", "file") != "file":
        return
    if not any("config" in placeholders(leaf) for _, leaf in _walk((), start) if isinstance(leaf, str)):
        mend = 'put it into command or env, or write configuration = "environment"'
        yield Problem(("start",), f"does not hold {{config}}, the file of the configuration to start with: {mend}")


def _where_it_runs(data: Mapping[str, Any]) -> Iterator[Problem]:
    if data.get("kind") in _NOT_STARTED_BY_FILE:
        return
    if "url" not in data and "start" not in data:
        mend = "a [start] table" if data.get("kind") == KILO_AGENT else 'url = "http://…", or a [start] table'
        yield Problem((), f"{'start' if data.get('kind') == KILO_AGENT else 'url or start'} is missing: add {mend}")
    if "url" in data and "start" in data:
        yield Problem(("start",), "excludes url: keep one of them")
    if isinstance(data.get("url"), str):
        try:
            base_url(data["url"])
        except UsageError as error:
            yield Problem(("url",), f"{error.message}. {error.hint}")


def _readiness(data: Mapping[str, Any]) -> Iterator[Problem]:
    ready = data.get("ready")
    if not isinstance(ready, dict):
        return
    if "log" in ready and "start" not in data:
        yield Problem(("ready", "log"), "only a target with [start] has a log: use path")
    if "status" in ready and "log" in ready and "path" not in ready:
        yield Problem(("ready", "status"), "needs path: add the path that answers so")
    if isinstance(ready.get("log"), str):
        try:
            re.compile(ready["log"])
        except re.error as error:
            yield Problem(("ready", "log"), f"is not a regular expression: {error}")


def _agents(data: Mapping[str, Any]) -> Iterator[Problem]:
    yield from _repeated(data, "agents", "id")
    for index, agent in _tables(data, "agents"):
        if "model" in agent and "no_model" in agent:
            yield Problem(("agents", index, "no_model"), "excludes model: keep one of them")


def _keys(data: Mapping[str, Any]) -> Iterator[Problem]:
    yield from _repeated(data, "keys", "name")
    agent_ids = dict.fromkeys(a["id"] for _, a in _tables(data, "agents") if isinstance(a.get("id"), str))
    keys = list(_tables(data, "keys"))
    for index, key in keys:
        yield from _key_source(("keys", index), key)
        yield from _key_agents(("keys", index, "agents"), key.get("agents"), agent_ids)
        if "revoke" in key and key.get("state") in ("valid", "expired"):
            yield Problem(("keys", index, "revoke"), 'is for a key with state = "revoked" only: remove it')
    states = [key.get("state") for _, key in keys]
    if states and "valid" not in states and all(state in _STATES for state in states):
        yield Problem(("keys",), 'no key is valid: at least one needs state = "valid"')


def _key_source(path: KeyPath, key: Mapping[str, Any]) -> Iterator[Problem]:
    sources = [source for source in KEY_SOURCES if source in key]
    if not sources:
        yield Problem(path, f"has no source: add one of {', '.join(KEY_SOURCES)}")
    for source in sources[1:]:
        yield Problem((*path, source), f"excludes {sources[0]}: keep one source of the key")


def _key_agents(path: KeyPath, agents: object, known: Collection[str]) -> Iterator[Problem]:
    if not isinstance(agents, list) or not known:
        return
    for index, agent in enumerate(agents):
        if isinstance(agent, str) and agent not in known:
            at = (*path, index)
            yield Problem(
                at,
                f"{shown_value(at, agent)} is not the id of an agent; {suggestion(agent, known)}",
            )


def _waivers(data: Mapping[str, Any]) -> Iterator[Problem]:
    """Two waivers of the same failure: which of their ends counts would not be clear."""
    first: dict[tuple[object, ...], int] = {}
    for index, waiver in _tables(data, "waivers"):
        same = tuple(str(waiver.get(name)) for name in ("requirement", "check", "signature"))
        if "signature" in waiver and first.setdefault(same, index) != index:
            yield Problem(("waivers", index), f"is for the same failure as waivers[{first[same]}]: keep one of them")


def _repeated(data: Mapping[str, Any], tables: str, name: str) -> Iterator[Problem]:
    first: dict[str, int] = {}
    for index, table in _tables(data, tables):
        value = table.get(name)
        if isinstance(value, str) and first.setdefault(value, index) != index:
            path = (tables, index, name)
            yield Problem(path, f"{shown_value(path, value)} is taken by {tables}[{first[value]}]: choose another")


def _leaves(data: Mapping[str, Any]) -> Iterator[Problem]:
    for path, leaf in _walk((), data):
        if isinstance(leaf, str):
            yield from _string(path, leaf, data)
        elif isinstance(leaf, float) and not math.isfinite(leaf):
            yield Problem(path, "must be a finite number")
        elif isinstance(leaf, (datetime.date, datetime.time)) and "body" in path:
            yield Problem(path, "JSON has no dates and times: write it as a string")


def _string(path: KeyPath, text: str, data: Mapping[str, Any]) -> Iterator[Problem]:
    if "\0" in text:
        yield Problem(path, "must not hold a NUL character")
    if is_secret(path, text):
        spelling = "only the variable's name" if path[-1] == "env" else "{env:NAME}"
        yield Problem(path, f"secrets come from environment variables only: write {spelling}")
    known = _known_placeholders(path, data)
    if known is None:
        return
    for name in placeholders(text):
        if not is_variable(name) and name not in known:
            yield Problem(path, _unknown_placeholder(path, name, known))
        elif name in _OF_OPENCODE and _lacks_opencode(data):
            yield Problem(path, f"{{{name}}} comes with {{opencode_url}}: let start.command or start.env hold that")
    if has_lone_brace(text):
        yield Problem(path, "a single brace: write {{ or }} for a brace itself")


def _lacks_opencode(data: Mapping[str, Any]) -> bool:
    """Whether an endpoint that turnproof starts is not told where an opencode is, so that none is put behind it."""
    start = data.get("start")
    if data.get("kind") != ENDPOINT or not isinstance(start, dict):
        return False
    told = _walk((), {"command": start.get("command"), "env": start.get("env")})
    return not any("opencode_url" in placeholders(leaf) for _, leaf in told if isinstance(leaf, str))


def _unknown_placeholder(path: KeyPath, name: str, known: list[str]) -> str:
    shown = f"{{{name}}}" if name in PLACEHOLDERS or not holds_secrets(path) else "this placeholder"
    near = difflib.get_close_matches(name, known, n=1)
    if near and name not in PLACEHOLDERS:
        return f"{shown} is not known here; did you mean {{{near[0]}}}?"
    here = ", ".join([*(f"{{{each}}}" for each in known), "{env:NAME}"])
    return f"{shown} is not known here: write {{{{ and }}}} for braces, or one of {here}"


def _known_placeholders(path: KeyPath, data: Mapping[str, Any]) -> list[str] | None:
    """Return what may stand in the string at `path`, or None where braces mean nothing."""
    missing = set(REVOKE_ONLY) | (_OF_ENDPOINTS if data.get("kind") == KILO_AGENT else _OF_AGENTS)
    missing |= {"port", "url"} if data.get("interface") == "command" else {"prompt"}
    match path:
        case ("start", "env" | "cwd", *_):
            missing.add("prompt")
        case ("start", "command", *_) | ("captures",):
            pass
        case ("keys", int(), "command", *_):
            pass
        case ("keys", int(), "mint", "path" | "headers" | "body", *_):
            pass
        case ("keys", int(index), "revoke", "path" | "headers" | "body", *_):
            missing = _OF_AGENTS | _missing_in_revoke(data["keys"][index].get("mint"))
        case ("mint", "revoke", "path" | "headers" | "body", *_):
            missing = _OF_AGENTS | _missing_in_revoke(data["mint"])
        case ("mint", "path" | "headers" | "agent_headers" | "store", *_) | ("mint", "list", "path"):
            pass
        case _:
            return None
    if "start" not in data:
        missing |= _WITHOUT_START
    return [name for name in PLACEHOLDERS if name not in missing]


def _missing_in_revoke(mint: object) -> set[str]:
    return set() if isinstance(mint, dict) and "id_pointer" in mint else {"key_id"}


def _walk(path: KeyPath, value: object) -> Iterator[tuple[KeyPath, object]]:
    if isinstance(value, dict):
        for name, item in value.items():
            yield from _walk((*path, name), item)
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _walk((*path, index), item)
    else:
        yield path, value


def _tables(data: Mapping[str, Any], name: str) -> Iterator[tuple[int, dict[str, Any]]]:
    tables = data.get(name)
    for index, table in enumerate(tables if isinstance(tables, list) else []):
        if isinstance(table, dict):
            yield index, table
