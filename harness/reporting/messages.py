"""Every message that ends a run, as the source of turnproof words it.

A message is found where its error is made: its texts as they are, and `…` for what is filled in. Messages that are
nothing but filled in are somebody else's, and told there.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

ERRORS: Mapping[str, int] = {"UsageError": 0, "TargetNotReady": 1, "HarnessError": 0, "Problem": 1, "Refused": 1}
"""The errors that are looked for, and which of their arguments is the message; the one after it is the hint."""

FILLED_IN = "…"

_Scope = tuple[ast.AST, ...]
"""Where names are looked up: the functions around a call, the innermost first, and the module."""


@dataclass(frozen=True, order=True)
class Message:
    """A message, what to do next, and the error that carries it."""

    text: str
    hint: str
    error: str


def messages(folder: Path) -> tuple[Message, ...]:
    """Every message of the modules under `folder`, sorted."""
    found = {message for path in folder.rglob("*.py") for message in _in(ast.parse(path.read_text(encoding="utf-8")))}
    return tuple(sorted(message for message in found if message.text.strip(f"{FILLED_IN}: ")))


def _in(module: ast.Module) -> Iterator[Message]:
    for call, scope in _calls(module, (module,)):
        name = call.func.id if isinstance(call.func, ast.Name) else ""
        first = ERRORS[name]
        texts = _texts(call.args[first], scope) if len(call.args) > first else []
        hints = _texts(call.args[first + 1], scope) if len(call.args) > first + 1 else [""]
        for text in texts:
            yield Message(text, hints[0] if len(hints) == 1 else " / ".join(hints), name)


def _calls(node: ast.AST, scope: _Scope) -> Iterator[tuple[ast.Call, _Scope]]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Call) and isinstance(child.func, ast.Name) and child.func.id in ERRORS:
            yield child, scope
        inside = isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef)
        yield from _calls(child, (child, *scope) if inside else scope)


def _texts(node: ast.expr, scope: _Scope) -> list[str]:
    """What an expression may come to: more than one text where it is one of several."""
    match node:
        case ast.Constant(value=str() as text):
            return [text]
        case ast.JoinedStr():
            return [_joined(node)]
        case ast.IfExp():
            return [*_texts(node.body, scope), *_texts(node.orelse, scope)]
        case ast.BinOp(op=ast.Add()):
            return [left + right for left in _texts(node.left, scope) for right in _texts(node.right, scope)]
        case ast.Name():
            return _assigned(node.id, scope) or [FILLED_IN]
    return [FILLED_IN]


def _joined(node: ast.JoinedStr) -> str:
    return "".join(part.value if isinstance(part, ast.Constant) else FILLED_IN for part in node.values)  # type: ignore[misc]


def _assigned(name: str, scope: _Scope) -> list[str]:
    """What is assigned to a name where it is next at hand."""
    for place in scope:
        assigned = [node for node in ast.walk(place) if isinstance(node, ast.Assign)]
        found = [text for node in assigned for to in node.targets for text in _unpacked(to, node.value, name, scope)]
        if found:
            return found
    return []


def _unpacked(target: ast.expr, value: ast.expr, name: str, scope: _Scope) -> list[str]:
    if isinstance(target, ast.Name) and target.id == name:
        return [] if isinstance(value, ast.Name) else _texts(value, scope)
    if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
        pairs = zip(target.elts, value.elts, strict=False)
        return [text for left, right in pairs for text in _unpacked(left, right, name, scope)]
    return []
