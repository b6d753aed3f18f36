from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from harness.target_schema import SCHEMA_FILE, Problem, shown_path
from harness.template import PLACEHOLDERS
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


def _section(heading: str) -> str:
    """Return the documentation from `heading` to the next one."""
    match = re.search(rf"^#+ {re.escape(heading)}\n(.*?)(?=^#|\Z)", DOCS, re.DOTALL | re.MULTILINE)
    assert match is not None
    return match[1]


def test_the_schema_is_valid_itself() -> None:
    Draft202012Validator.check_schema(SCHEMA)


@pytest.mark.parametrize(
    ("heading", "properties"),
    [
        ("The file", SCHEMA["properties"]),
        ("`[policies]`", SCHEMA["$defs"]["policies"]["properties"]),
        ("`[start]`", SCHEMA["$defs"]["start"]["properties"]),
        ("`[ready]`", SCHEMA["$defs"]["ready"]["properties"]),
        ("`[[agents]]`", SCHEMA["$defs"]["agent"]["properties"]),
        ("`[[keys]]`", SCHEMA["$defs"]["key"]["properties"] | SCHEMA["$defs"]["mint"]["properties"]),
        ("`[mint]`", SCHEMA["$defs"]["minting"]["properties"]),
        ("`[mint.list]`", SCHEMA["$defs"]["listing"]["properties"]),
        ("`[mint.expiring]`", SCHEMA["$defs"]["expiring"]["properties"]),
        ("`[[waivers]]`", SCHEMA["$defs"]["waiver"]["properties"]),
    ],
)
def test_the_documentation_has_exactly_the_keys_of_the_schema(heading: str, properties: dict[str, Any]) -> None:
    assert set(re.findall(r"^\| `(\w+)`", _section(heading), re.MULTILINE)) == set(properties)


def test_every_table_of_the_schema_is_compared_with_the_documentation() -> None:
    with_properties = {name for name, schema in SCHEMA["$defs"].items() if "properties" in schema}
    key_making = {"mint", "revoke", "minting", "listing", "expiring"}
    assert with_properties == {"policies", "start", "ready", "agent", "key", "facts", "waiver"} | key_making


@pytest.mark.parametrize("value", sorted({v for s in _schemas(SCHEMA) for v in s.get("enum", ())}))
def test_the_documentation_names_every_allowed_value(value: str) -> None:
    assert f"`{value}`" in DOCS


def test_the_documentation_explains_every_placeholder_in_the_same_words() -> None:
    documented = dict(re.findall(r"^\| `\{(\w+)\}` \| (.*) \|$", _section("Placeholders"), re.MULTILINE))
    assert documented == PLACEHOLDERS


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
