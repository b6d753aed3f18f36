from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from harness.kinds import KINDS
from harness.target_schema import SCHEMA_FILE, Problem, shown_path
from harness.toml_lines import KeyPath

SCHEMA: dict[str, Any] = json.loads(SCHEMA_FILE.read_text(encoding="utf-8"))
DOCS = (Path(__file__).parent.parent / "docs" / "targets.md").read_text(encoding="utf-8")


def _schemas(schema: object) -> Iterator[dict[str, Any]]:
    """Yield the schema and all below it that belong to target files."""
    if isinstance(schema, dict):
        yield schema
        for name, below in schema.items():
            if name != "facts":
                yield from _schemas(below)
    elif isinstance(schema, list):
        for below in schema:
            yield from _schemas(below)


def test_the_schema_is_valid_itself() -> None:
    Draft202012Validator.check_schema(SCHEMA)


@pytest.mark.parametrize("value", sorted({v for s in _schemas(SCHEMA) for v in s.get("enum", ())}))
def test_the_documentation_names_every_allowed_value(value: str) -> None:
    assert f"`{value}`" in DOCS


def test_every_pattern_of_the_schema_says_what_it_expects() -> None:
    assert all("x-expects" in schema for schema in _schemas(SCHEMA) if isinstance(schema.get("pattern"), str))


def test_every_required_key_has_an_example_for_its_message() -> None:
    for schema in _schemas(SCHEMA):
        for key in schema.get("required", ()):
            assert "x-example" in schema["properties"][key]


@pytest.mark.parametrize(
    ("path", "shown"),
    [
        (("keys", 0, "state"), "keys[0].state"),
        (("headers", "X-Y"), "headers.X-Y"),
        (("headers", "X Y"), 'headers."X Y"'),
        (("a", 1, 2), "a[1][2]"),
        ((), ""),
    ],
)
def test_a_path_is_shown_as_people_write_it(path: KeyPath, shown: str) -> None:
    assert shown_path(path) == shown


def test_a_problem_of_the_whole_file_has_no_key() -> None:
    assert str(Problem((), "is empty")) == "is empty"


def test_every_kind_that_the_schema_names_is_one() -> None:
    named = {kind for schema in _schemas(SCHEMA) for kind in schema.get("x-kinds", ())}
    named |= {kind for kinds in SCHEMA["$defs"]["capabilities"]["items"]["x-value-kinds"].values() for kind in kinds}
    assert named <= {kind.name for kind in KINDS}
    assert SCHEMA["$defs"]["kind"]["enum"] == list(SCHEMA["$defs"]["kind"]["x-values"])
    assert set(SCHEMA["$defs"]["kind"]["enum"]) == {kind.name for kind in KINDS}


def test_every_choice_has_its_meaning() -> None:
    for schema in _schemas(SCHEMA):
        if "x-values" in schema:
            assert list(schema["x-values"]) == schema["enum"]
