"""What a version of the CLI does where versions differ: read from the table that was recorded from its binary."""

from __future__ import annotations

import json
import os
from typing import Any, NamedTuple

TABLES = os.path.join(os.path.dirname(__file__), "..", "..", "fixtures", "kilo")
"""The folder of the tables, one JSON file for each version."""

NEWEST = "7.7.9"
"""The version that the stand-in stands for when it is told none, and that unknown versions are compared with."""


class Rules(NamedTuple):
    """The rows of a table.

    `options` are those that `kilo run` knows, `tools` the names that the model is offered. `system` and `schemas` are
    the characters of the system text and of the tools' JSON.
    `title_call`: a call without tools for a title comes before the turn. `environment`: a text about the surroundings
    follows the prompt. `quotes`: how a prompt is wrapped when it holds white space.
    `ceiling`: the greatest `max_tokens`; `window`: whether what is left of the window caps it too.
    `reasoning_fields`: the fields of an answer that are read as reasoning; `needs_thinking`: whether reasoning is told
    only with `--thinking`; `sent_back`: for a declared `interleaved.field` (empty for none) the field under which
    reasoning goes back to the model, null where the configuration is invalid with it.
    `measures`: a step's end tells how long it took; `approvals`: a tool's metadata tell who allowed it.
    `unknown_tool`: the name under which a call of an unknown tool is told, null for its own, as an error.
    `error_prefix`: what stands before a tool's error. `no_content`: the content of a message that only calls tools.
    `output_without`: tokens of reasoning are not counted as output too.
    `refuses_configuration`: a bad file ends the run, rather than being passed over.
    `not_found`, `failed`, `empty`: exit statuses for a model that is not there, a turn that ended in an error, a turn
    without any output; null where the process never ends. `announces`: an error of no model is told before as an
    unexpected one. `compacts`: an overflow is answered with attempts to compact.
    """

    version: str
    options: frozenset[str]
    tools: tuple[str, ...]
    system: int
    schemas: int
    title_call: bool
    environment: bool
    quotes: bool
    ceiling: int
    window: bool
    reasoning_fields: tuple[str, ...]
    needs_thinking: bool
    sent_back: dict[str, str | None]
    measures: bool
    approvals: bool
    unknown_tool: str | None
    error_prefix: str
    no_content: str | None
    output_without: bool
    refuses_configuration: bool
    not_found: int | None
    announces: bool
    failed: int | None
    empty: int | None
    compacts: bool

    @classmethod
    def from_table(cls, table: dict[str, Any]) -> Rules:
        """The rules of a table as it stands in its file."""
        rows = {name: table[name] for name in cls._fields}
        lists = ("tools", "reasoning_fields")
        rows |= {name: tuple(rows[name]) for name in lists} | {"options": frozenset(rows["options"])}
        return cls(**rows)


def table_of(version: str) -> dict[str, Any]:
    """The table of a version; of the newest when there is none of its own."""
    path = os.path.join(TABLES, f"{version}.json")
    if not os.path.exists(path):
        path = os.path.join(TABLES, f"{NEWEST}.json")
    with open(path, encoding="utf-8") as file:
        table: dict[str, Any] = json.load(file)
    return table
