"""The tools that a model may ask for. They really run, as far as they are harmless."""

from __future__ import annotations

import json
import os
import re
from typing import Any, NamedTuple

from harness.fakes.kilo.rules import Rules

_HARMLESS = frozenset({"echo", "sleep", "printf", "true", "false", "exit", ":", "pwd"})
_BETWEEN = re.compile(r"\|\||&&|[;&|\n]")

REJECTION = "The user rejected permission to use this specific tool call."
"""What the model is told of a call that needs a permission, when nobody is there to give it."""


class Failed(Exception):
    """The tool broke; what the model is told."""


class Done(NamedTuple):
    """What a tool came to."""

    output: str
    title: str
    metadata: dict[str, Any]


class Called(NamedTuple):
    """A tool call as the model sees it again: its name, input, and what is told of it."""

    name: str
    given: dict[str, Any]
    state: dict[str, Any]
    told: str


def call(rules: Rules, directory: str, name: str, arguments: str, auto: bool) -> Called:
    """Run a tool; the state holds no times yet. Without `auto` one that reaches beyond the folder is rejected."""
    try:
        given = json.loads(arguments or "{}")
    except ValueError:
        error = f"Invalid input for tool {name}: JSON parsing failed: Text: {arguments}."
        return _unusable(rules, name, {"value": arguments}, f"{error}\nError message: JSON Parse error: Unexpected EOF")
    if name not in rules.tools:
        known = ", ".join(rules.tools)
        error = f"Model tried to call unavailable tool '{name}'. Available tools: {known}."
        return _unusable(rules, name, given, error)
    path = os.path.join(directory, str(given.get("filePath", "")))
    outside = os.path.relpath(path, directory).startswith("..")
    if outside and not auto:
        told = f"{rules.error_prefix}{REJECTION}"
        return Called(name, given, {"status": "error", "input": given, "error": told}, told)
    approval = _approval(name, given) if rules.approvals else {}
    try:
        done = _run(rules, directory, name, given)
    except Failed as failed:
        told = f"{rules.error_prefix}{failed}"
        state = {"status": "error", "input": given, "error": told}
        if approval:
            state["metadata"] = approval
        return Called(name, given, state, told)
    state = {"status": "completed", "input": given, "output": done.output, "title": done.title}
    return Called(name, given, {**state, "metadata": {**done.metadata, **approval}}, done.output)


def _unusable(rules: Rules, name: str, given: dict[str, Any], error: str) -> Called:
    if rules.unknown_tool is None:
        return Called(name, given, {"status": "error", "input": given, "error": error}, error)
    told = f"The arguments provided to the tool are invalid: {error}"
    shown = {"tool": name, "error": error}
    state = {"status": "completed", "input": shown, "output": told, "title": "Invalid Tool"}
    return Called(rules.unknown_tool, shown, {**state, "metadata": {"truncated": False}}, told)


def _approval(name: str, given: dict[str, Any]) -> dict[str, Any]:
    rule = {"permission": name, "pattern": "*", "action": "allow"}
    if name == "bash":
        rule["pattern"] = f"{str(given.get('command', '')).partition(' ')[0]} *"
    if name == "write":
        rule["permission"] = "*"
    return {"approval": {"source": "agent", "agent": "code", "rule": rule}}


def _run(rules: Rules, directory: str, name: str, given: dict[str, Any]) -> Done:
    if name == "bash":
        return _bash(directory, given)
    if name in ("read", "write"):
        path = os.path.join(directory, str(given.get("filePath", "")))
        return _read(rules, path) if name == "read" else _write(rules, path, str(given.get("content", "")))
    return Done(f"{name} does nothing in the stand-in", name, {"truncated": False})


def _bash(directory: str, given: dict[str, Any]) -> Done:
    import subprocess  # a tenth of the start, and most runs call no tool

    command, about = str(given.get("command", "")), str(given.get("description", ""))
    words = [piece.split()[0] for piece in _BETWEEN.split(command) if piece.split()]
    strange = [word for word in words if word not in _HARMLESS]
    if strange:
        raise Failed(f"the stand-in does not run {strange[0]}")
    ended = subprocess.run(
        ["/bin/sh", "-c", command],
        cwd=directory,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
        check=False,
    )
    output = ended.stdout.decode("utf-8", "replace")
    told = {"output": output, "exit": ended.returncode, "description": about, "truncated": False}
    return Done(output, about, told)


def _read(rules: Rules, path: str) -> Done:
    if not os.path.isfile(path):
        raise Failed(f"File not found: {path}")
    with open(path, encoding="utf-8", errors="replace") as file:
        lines = file.read().splitlines()
    numbered = "\n".join(f"{number}: {line}" for number, line in enumerate(lines, 1))
    told = f"<path>{path}</path>\n<type>file</type>\n<content>\n{numbered}\n\n"
    told += f"(End of file - total {len(lines)} lines)\n</content>"
    display = {"type": "file", "path": path, "text": "\n".join(lines), "lineStart": 1, "lineEnd": len(lines)}
    display |= {"totalLines": len(lines), "truncated": False}
    metadata = {"preview": "\n".join(lines[:20]), "truncated": False, "loaded": []}
    metadata |= {"display": display} if rules.displays else {}
    return Done(told, path.lstrip("/"), metadata)


def _write(rules: Rules, path: str, content: str) -> Done:
    exists = os.path.exists(path)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(content)
    added = content.splitlines()
    patch = f"Index: {path}\n{'=' * 67}\n--- {path}\n+++ {path}\n@@ -0,0 +1,{len(added)} @@\n"
    patch += "".join(f"+{line}\n" for line in added)
    changed = {"file": path, "patch": patch, "additions": len(added), "deletions": 0}
    metadata = {"diagnostics": {}, "filepath": path, "exists": exists}
    metadata |= {"diff": patch, "filediff": changed} if rules.displays else {}
    return Done("Wrote file successfully.", path.lstrip("/"), {**metadata, "truncated": False})
