"""No mistake in a target file is without a message: those of the schema, walked, and of the rules, read from source."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterator, Mapping
from types import ModuleType
from typing import Any

import pytest

from harness import target_file, target_kinds, target_rules, target_schema
from harness.target_schema import shown_path, target_problems
from harness.toml_lines import KeyPath
from tests.test_target_mistakes import ERRORS

SCHEMA = target_schema.target_schema()
TABLES: Mapping[str, KeyPath] = {
    "start": ("start",),
    "ready": ("ready",),
    "policies": ("policies",),
    "agent": ("agents", 0),
    "key": ("keys", 0),
    "mint": ("keys", 0, "mint"),
    "revoke": ("keys", 0, "revoke"),
    "minting": ("mint",),
    "listing": ("mint", "list"),
    "expiring": ("mint", "expiring"),
    "waiver": ("waivers", 0),
}
"""Where in a target file each table of keys is."""

WRONG: Mapping[str, Any] = {
    "enum": "x y",
    "pattern": "x y",
    "format": "x y",
    "const": False,
    "minimum": -(10**9),
    "exclusiveMinimum": -(10**9),
    "maximum": 10**9,
    "minLength": "",
    "minItems": [],
    "uniqueItems": ["a", "a"],
}
"""A value that breaks each keyword of the schema."""

WRONG_TYPE: Mapping[str, Any] = {
    "string": 1.5,
    "number": "x",
    "integer": 1.5,
    "boolean": "x",
    "array": "x",
    "object": "x",
}
FORMS = re.compile(
    r"must be |must not be |is not one of |is not .*: |is out of range: it must be |is here twice: keep one"
    r"|is missing: add |is not stand-in, a version such as "
)
"""How messages of the schema say what is to be done."""


def resolved(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    named = schema.get("$ref", "").rpartition("/")[2]
    return {**SCHEMA["$defs"].get(named, {}), **schema}


def violations() -> Iterator[tuple[KeyPath, str, Any]]:
    """Of every key that a target file may hold the ways to break the schema: its path, what is broken, and a value."""
    tables = {(): SCHEMA, **{path: SCHEMA["$defs"][name] for name, path in TABLES.items()}}
    for path, table in tables.items():
        for key, schema in table["properties"].items():
            whole = resolved(schema)
            if whole.get("type") in WRONG_TYPE:
                yield (*path, key), "type", WRONG_TYPE[whole["type"]]
            yield from (((*path, key), word, WRONG[word]) for word in whole if word in WRONG)


def holding(path: KeyPath, value: Any) -> Any:
    """The data of a file with nothing but `value` at `path`."""
    if not path:
        return value
    return [holding(path[1:], value)] if path[0] == 0 else {path[0]: holding(path[1:], value)}


@pytest.mark.parametrize(
    ("path", "word", "value"),
    list(violations()),
    ids=lambda part: shown_path(part) if isinstance(part, tuple) else None,
)
def test_every_way_to_break_the_schema_is_told_with_its_key_and_mend(path: KeyPath, word: str, value: Any) -> None:
    found = target_problems(holding(path, value))
    told = [problem.message for problem in found if problem.path[: len(path)] == path]
    assert told, f"{word} of {shown_path(path)} says nothing"
    assert all(FORMS.search(message) for message in told)


@pytest.mark.parametrize(("name", "path"), TABLES.items(), ids=TABLES)
def test_every_missing_key_is_told_with_what_to_add(name: str, path: KeyPath) -> None:
    told = {problem.message for problem in target_problems(holding(path, {})) if problem.path == path}
    required = SCHEMA["$defs"][name].get("required", ())
    assert {message.partition(" is missing: add ")[0] for message in told} == set(required)


@pytest.mark.parametrize("path", [(), *TABLES.values()], ids=["root", *TABLES])
def test_every_table_tells_an_unknown_key(path: KeyPath) -> None:
    told = [problem for problem in target_problems(holding(path, {"zzz": 1})) if problem.path == (*path, "zzz")]
    assert [problem.message.partition(";")[0] for problem in told] == ["unknown key"]


def test_every_table_of_the_schema_is_walked() -> None:
    assert {name for name, d in SCHEMA["$defs"].items() if "properties" in d and name != "facts"} == set(TABLES)


def messages_of(module: ModuleType) -> Iterator[str]:
    """Patterns of the messages in a module's source: what it gives to a problem, and what makes such texts."""
    for node in ast.walk(ast.parse(inspect.getsource(module))):
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Name)
            and node.func.id in ("Problem", "_at", "_says")
        ):
            texts = node.args[1:2] if node.func.id != "_says" else node.args[:1]
            yield from (pattern for text in texts if (pattern := pattern_of(text)))


def pattern_of(text: ast.expr) -> str:
    """What a text in the source may become; empty for one that is made elsewhere."""
    if isinstance(text, ast.Constant):
        return re.escape(str(text.value))
    if isinstance(text, ast.JoinedStr):
        return "".join(pattern_of(part) if isinstance(part, ast.Constant) else ".*" for part in text.values)
    return ""


@pytest.mark.parametrize("module", [target_rules, target_kinds, target_file, target_schema], ids=lambda m: m.__name__)
def test_every_message_of_the_rules_is_in_the_table(module: ModuleType) -> None:
    told = [message for _, message in ERRORS.values()]
    patterns = list(messages_of(module))
    assert patterns
    assert [pattern for pattern in patterns if not any(re.search(pattern, message) for message in told)] == []
