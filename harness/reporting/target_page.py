"""The tables of `docs/targets.md`, from the schema of target files: `python -m harness.reporting.target_page`.

A table stands between `<!-- from the schema: NAME -->` and `<!-- end -->`; what is around them is written by people.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from harness.target_schema import target_schema
from harness.template import PLACEHOLDERS

PAGE = Path(__file__).parents[2] / "docs" / "targets.md"

_BLOCK = re.compile(r"(<!-- from the schema: ([\w ]+) -->\n).*?(<!-- end -->)", re.DOTALL)
_TABLES = {
    "start": "start",
    "ready": "ready",
    "agents": "agent",
    "keys": "key",
    "mint": "minting",
    "list": "listing",
    "expiring": "expiring",
    "waivers": "waiver",
}
"""The tables of keys, by their names in the page, with the definitions that they come from."""

_VARIABLE = "| `{env:NAME}` | the environment variable `NAME`, which must be set and not empty |"


def in_step(page: str) -> str:
    """The page with all of its tables as the schema has them; raises KeyError for a table that there is not."""
    tables = schema_tables()
    return _BLOCK.sub(lambda block: f"{block[1]}{tables[block[2]]}\n{block[3]}", page)


def schema_tables() -> Mapping[str, str]:
    """Every table by its name."""
    schema = target_schema()
    definitions = schema["$defs"]
    found = {name: _keys(definitions[of], definitions) for name, of in _TABLES.items()}
    found["file"] = _keys(schema, definitions)
    found["policies"] = _values_of(definitions["policies"]["properties"])
    found["requests"] = _requests(definitions)
    found["capabilities"] = _capabilities(definitions["capabilities"]["items"])
    found["placeholders"] = _table(
        ("placeholder", "stands for"), [(f"`{{{name}}}`", does) for name, does in PLACEHOLDERS.items()]
    )
    found["placeholders"] += f"\n{_VARIABLE}"
    return found


def _keys(table: Mapping[str, Any], definitions: Mapping[str, Any]) -> str:
    rows = []
    for key, schema in table["properties"].items():
        needed = _needed(schema, key in table.get("required", ()))
        rows.append((f"`{key}`", needed, _meaning(_resolved(schema, definitions))))
    return _table(("key", "", "meaning"), rows)


def _resolved(schema: Mapping[str, Any], definitions: Mapping[str, Any]) -> Mapping[str, Any]:
    """The schema with what it refers to; its own words come first."""
    named = schema.get("$ref", "").rpartition("/")[2]
    return {**definitions.get(named, {}), **schema}


def _needed(schema: Mapping[str, Any], required: bool) -> str:
    if required:
        return "required"
    said = schema.get("x-needed")
    if said is None and schema.get("x-required-for"):
        said = "required" if schema["x-required-for"] == schema.get("x-kinds") else "required for some"
    if said is None and "default" in schema:
        said = f"default `{json.dumps(schema['default']) if schema['default'] == '.' else schema['default']}`"
    return said or ""


def _meaning(schema: Mapping[str, Any]) -> str:
    parts = [schema["description"]]
    if "x-values" in schema:
        parts.append("; ".join(f"`{value}`: {does}" for value, does in schema["x-values"].items()))
    elif "enum" in schema and not all(f"`{value}`" in parts[0] for value in schema["enum"]):
        parts.append(" or ".join(f"`{value}`" for value in schema["enum"]))
    text = ": ".join(parts)
    return f"{text}. Only for {_kinds(schema['x-kinds'])}" if "x-kinds" in schema else text


def _kinds(kinds: Sequence[str]) -> str:
    return ", ".join(f"`{kind}`" for kind in kinds)


def _values_of(properties: Mapping[str, Any]) -> str:
    """The policies: of each the choices, with what each means."""
    rows = []
    for key, schema in properties.items():
        choices = ", or ".join(f"{does} (`{value}`)" for value, does in schema["x-values"].items())
        rows.append((f"`{key}`", f"{schema['description']} {choices}", _kinds(schema["x-kinds"])))
    return _table(("key", "values", "only for"), rows)


def _capabilities(items: Mapping[str, Any]) -> str:
    kinds = items["x-value-kinds"]
    rows = [(f"`{value}`", does, _kinds(kinds[value])) for value, does in items["x-values"].items()]
    return _table(("value", "the target", "only for"), rows)


def _requests(definitions: Mapping[str, Any]) -> str:
    """The keys of the two requests about a key, in one table."""
    mint, revoke = definitions["mint"], definitions["revoke"]
    rows = []
    for key, schema in mint["properties"].items():
        only = "" if key in revoke["properties"] else "`mint` only"
        needed = _needed(schema, key in mint["required"])
        rows.append((f"`{key}`", ", ".join(filter(None, (needed, only))), schema["description"]))
    return _table(("key", "", "meaning"), rows)


def _table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [columns, ["---"] * len(columns), *rows]
    return "\n".join(f"| {' | '.join(cells)} |".replace("|  |", "| |") for cells in lines)


if __name__ == "__main__":
    PAGE.write_text(in_step(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
