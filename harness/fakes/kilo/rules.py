"""What a version of the CLI does where versions differ: read from the table that was recorded from its binary."""

from __future__ import annotations

import json
import os
from typing import Any, NamedTuple

RECORDINGS = os.path.join(os.path.dirname(__file__), "..", "..", "fixtures", "recordings")
"""Where the recordings are, with one folder `kilo-VERSION` for each version."""

FILE = "rules.json"
"""The name of the table in such a folder."""

NEWEST = "7.7.9"
"""The version that the stand-in stands for when it is told none."""


class Rules(NamedTuple):
    """The rows of a table.

    Requests: `options` are those that `kilo run` knows, `tools` the names that the model is offered, `system` and
    `schemas` the characters of the system text and of the tools' JSON. `title_call`: a call without tools, for a title,
    comes before the turn. `environment`: a text about the surroundings follows the prompt. `quotes`: a word with white
    space is quoted, and the end of standard input waited for. `window`: what is left of the model's window caps
    `max_tokens`.

    Reasoning: `reasoning_fields` are the fields of an answer that are read, `needs_thinking`: they are told only with
    `--thinking`. `sent_back`: for a declared `interleaved.field` (empty for none) the field under which reasoning goes
    back to the model, null where the configuration is invalid with it.

    Events: `measures`: a step's end tells how long it took. `approvals`: a tool's metadata tell who allowed it,
    `displays`: and how to show it. `unknown_tool`: the name under which a call of an unknown tool is told, null for its
    own, as an error. `error_prefix`: what stands before a tool's error. `output_without`: tokens of reasoning are not
    counted as output too. `error_object`: an error in a stream is told as the whole object, else as its message.
    `parse_prefix`: what stands before the complaint about a chunk that is no JSON. `keeps_partial`: the text before it
    is told. `unfinished`: the reason of a step whose stream has no finish reason, `asks_again`: after which the model
    is asked again.

    Endings: `refuses_configuration`: a bad file ends the run, rather than being passed over. `not_found`, `failed`,
    `rejected`, `empty`: exit statuses for a model that is not there, a turn that ended in an error, a permission that
    nobody gave, a turn without any output; null where the process never ends. `announces`: that a model is not there is
    told as an unexpected error first. `complains`: errors are told on standard error too. `compacts`: an overflow is
    answered with attempts to compact.

    The network: `hosts` are those that are asked for, by what it is for: telemetry, the catalogue of models, Kilo's own
    gateway, and what cannot be switched off. `lingers`: a run never ends when telemetry does not get through.
    """

    version: str
    options: frozenset[str]
    tools: tuple[str, ...]
    system: int
    schemas: int
    title_call: bool
    environment: bool
    quotes: bool
    window: bool
    reasoning_fields: tuple[str, ...]
    needs_thinking: bool
    sent_back: dict[str, str | None]
    measures: bool
    approvals: bool
    displays: bool
    unknown_tool: str | None
    error_prefix: str
    output_without: bool
    error_object: bool
    parse_prefix: str
    keeps_partial: bool
    unfinished: str
    asks_again: bool
    refuses_configuration: bool
    not_found: int | None
    announces: bool
    complains: bool
    failed: int | None
    rejected: int | None
    empty: int | None
    compacts: bool
    hosts: dict[str, list[str]]
    lingers: bool

    @classmethod
    def from_table(cls, table: dict[str, Any]) -> Rules:
        """The rules of a table as it stands in its file."""
        rows = {name: table[name] for name in cls._fields}
        lists = ("tools", "reasoning_fields")
        rows |= {name: tuple(rows[name]) for name in lists} | {"options": frozenset(rows["options"])}
        return cls(**rows)


def table_of(version: str) -> dict[str, Any]:
    """The table of a recorded version."""
    with open(os.path.join(RECORDINGS, f"kilo-{version}", FILE), encoding="utf-8") as file:
        table: dict[str, Any] = json.load(file)
    return table
