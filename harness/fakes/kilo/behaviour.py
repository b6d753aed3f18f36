"""How the stand-in behaves: the rules of a version, and what it is told to do wrong.

Said in `behaviour.json` in the shim's folder, which is read at each start:

- `version`: whose rules apply (7.7.9).
- `rules`: rows of that version's table to replace, by their names in `Rules`.
- `faults`: see `Faults`.
"""

from __future__ import annotations

import json
import os
from typing import Any, NamedTuple

from harness.fakes.kilo.budget import CEILING
from harness.fakes.kilo.rules import NEWEST, Rules, table_of


class Faults(NamedTuple):
    """What goes wrong on purpose.

    Its end: `exit`: the exit status, whatever happened. `hang`: it never ends, from the `start` or after the `end` of
    its turn. `start_seconds`: how much longer it takes to start. `detached`: seconds that a process in a session of its
    own outlives it. `ignores_term`: SIGTERM does not end it.

    Its output: `silent`: nothing is printed, on either stream. `no_events`: no event is printed. `repeats`: how often
    each part event is printed. `lines_before`, `lines_after`: lines printed verbatim before the first and after the
    last event; `{session}` in them is the session's id. `line_between`: a line printed verbatim after each event.
    `pieces`: how many bytes are written at a time.

    Its turn: `split_at_last`: the model's name on the wire is what follows the last slash. `falls_back`: a model that
    is not listed is taken for one without limits. `default_budget`: what is asked for where the output limit says
    nothing. `trims`: white space around a prompt is lost. `takes_empty`: an empty prompt is one. `lists_models`: the
    provider is asked for its models too.

    Its surroundings: `reads_user`, `writes_user`: the configuration under HOME is read, or written, whatever the XDG
    folders are. `shares`: the last prompt is kept under HOME, and told to the model with the next one.
    """

    exit: int | None = None
    hang: str | None = None
    start_seconds: float = 0.0
    detached: float = 0.0
    ignores_term: bool = False
    silent: bool = False
    no_events: bool = False
    repeats: int = 1
    lines_before: tuple[str, ...] = ()
    lines_after: tuple[str, ...] = ()
    line_between: str | None = None
    pieces: int = 0
    split_at_last: bool = False
    falls_back: bool = False
    default_budget: int = CEILING
    trims: bool = False
    takes_empty: bool = False
    lists_models: bool = False
    reads_user: bool = False
    writes_user: bool = False
    shares: bool = False


class Behaviour(NamedTuple):
    """All that decides what a run does, besides what it is given."""

    rules: Rules
    faults: Faults = Faults()


def read(folder: str) -> Behaviour:
    """The behaviour that is said in `folder`; that of the newest version when nothing is."""
    told: dict[str, Any] = {}
    path = os.path.join(folder, "behaviour.json")
    if os.path.exists(path):
        with open(path, encoding="utf-8") as file:
            told = json.load(file)
    table = table_of(told.get("version", NEWEST)) | told.get("rules", {})
    return Behaviour(Rules.from_table(table), Faults(**told.get("faults", {})))
