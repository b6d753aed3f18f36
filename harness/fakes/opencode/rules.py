"""Permission rules: what an agent may do, what it must ask for, and what it is not even offered.

A rule speaks of a permission and of a pattern of what it is wanted for; the last rule that fits decides.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

Rule = Mapping[str, str]

_EDITING = frozenset({"edit", "write"})
_LAST = r"\ .*"


def fits(pattern: str, text: str) -> bool:
    """Whether `*` for any text and `?` for any character make the text of the pattern; a last ` *` may be missing."""
    regex = re.escape(pattern).replace(r"\*", ".*").replace(r"\?", ".")
    if regex.endswith(_LAST):
        regex = regex.removesuffix(_LAST) + "( .*)?"
    return re.fullmatch(regex, text, re.DOTALL) is not None


def decided(rules: Sequence[Rule], permission: str, wanted: str) -> str:
    """`allow`, `ask` or `deny`: what is done about a permission that is wanted for something."""
    for rule in reversed(rules):
        if fits(rule["permission"], permission) and fits(rule["pattern"], wanted):
            return rule["action"]
    return "ask"


def permission_of(tool: str) -> str:
    """The permission that a tool wants."""
    return "edit" if tool in _EDITING else tool


def is_offered(rules: Sequence[Rule], tool: str) -> bool:
    """Whether the model is told of a tool: not when the last rule that speaks of it denies it for everything."""
    last = next((rule for rule in reversed(rules) if fits(rule["permission"], permission_of(tool))), None)
    return last is None or (last["pattern"], last["action"]) != ("*", "deny")


def relevant(rules: Iterable[Rule], permission: str) -> str:
    """The rules that speak of a permission, as a refused tool tells them to the model."""
    return json.dumps([rule for rule in rules if fits(rule["permission"], permission)], separators=(",", ":"))


def configured(permission: Any) -> list[Rule]:
    """The rules of a `permission` in the configuration: a word for all, or for each a word or words by pattern."""
    if isinstance(permission, str):
        permission = {"*": permission}
    found: list[Rule] = []
    for name, said in (permission or {}).items():
        if isinstance(said, str):
            found.append({"permission": name, "action": said, "pattern": "*"})
        else:
            found += [{"permission": name, "pattern": pattern, "action": action} for pattern, action in said.items()]
    return found


def switched(tools: Mapping[str, bool] | None) -> list[Rule]:
    """The rules that follow from tools that are switched on and off by name."""
    actions = {True: "allow", False: "deny"}
    return [
        {"permission": permission_of(tool), "pattern": "*", "action": actions[on]} for tool, on in (tools or {}).items()
    ]


_COMMON: Mapping[str, Any] = {
    "*": "allow",
    "doom_loop": "ask",
    "external_directory": "ask",
    "question": "deny",
    "plan_enter": "deny",
    "plan_exit": "deny",
    "read": {"*": "allow", "*.env": "ask", "*.env.*": "ask", "*.env.example": "allow"},
}
_OWN: Mapping[str, Mapping[str, Any]] = {
    "build": {"question": "allow", "plan_enter": "allow"},
    "plan": {
        "question": "allow",
        "plan_exit": "allow",
        "task": {"general": "deny"},
        "edit": {"*": "deny", ".opencode/plans/*.md": "allow"},
    },
    "general": {"todowrite": "deny"},
    "explore": {
        "*": "deny",
        **dict.fromkeys(("grep", "glob", "list", "bash", "webfetch", "websearch", "read"), "allow"),
        "external_directory": "ask",
    },
}
NATIVE = tuple(_OWN)
"""The agents that are there without a configuration."""


def native(agent: str) -> list[Rule]:
    """The rules of an agent before those of the configuration."""
    return [*configured(_COMMON), *configured(_OWN.get(agent))]
