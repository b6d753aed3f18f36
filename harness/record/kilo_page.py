"""The page `docs/kilo-versions.md`: how the recorded versions of the Kilo CLI differ, and from what is documented.

`python -m harness.record.kilo_page` writes it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

from harness.fakes.kilo.rules import table_of
from harness.kilo_outcome import outline
from harness.kilo_recorded import file_name, recorded, versions
from harness.kilo_starts import TOOLS, missing, over_window
from harness.record.kilo_compare import differences

PAGE = Path(__file__).parents[2] / "docs" / "kilo-versions.md"

Table = Mapping[str, Any]
Outcomes = Mapping[str, Mapping[str, Any]]
Row = tuple[str, Callable[[Table, Outcomes], str]]

_SHOWN = 60
_WIDTH = 160
_INTRO = """# The Kilo CLI, version by version

What `turnproof record kilo@VERSION` saw of each version. This page is made from the recordings in `fixtures/recordings`
by `python -m harness.record.kilo_page`; do not edit it.
"""


def _status(status: int | None) -> str:
    return "never ends" if status is None else f"exit {status}"


def _yes(key: str) -> Callable[[Table, Outcomes], str]:
    return lambda table, _: "yes" if table[key] else "no"


def _ends(key: str) -> Callable[[Table, Outcomes], str]:
    return lambda table, _: _status(table[key])


def _hosts(key: str) -> Callable[[Table, Outcomes], str]:
    return lambda table, _: ", ".join(table["hosts"][key]) or "none"


_ROWS: tuple[Row, ...] = (
    ("`--pure` is an option of `run`", lambda table, _: "yes" if "--pure" in table["options"] else "no"),
    ("the window caps `max_tokens`", _yes("window")),
    ("a model call for a title comes before the turn", _yes("title_call")),
    ("a prompt of several words is wrapped in quotes", _yes("quotes")),
    ("a text about the surroundings follows the prompt", _yes("environment")),
    ("response fields that are read as reasoning", lambda table, _: ", ".join(table["reasoning_fields"]) or "none"),
    ("reasoning is told only with `--thinking`", _yes("needs_thinking")),
    *(
        (
            f"reasoning goes back, `interleaved.field` {field or 'absent'}",
            lambda table, _, field=field: f"as {table['sent_back'][field]}" if table["sent_back"][field] else "refused",
        )
        for field in ("", "reasoning_content", "reasoning")
    ),
    ("a step's end tells how long it took", _yes("measures")),
    ("a tool's metadata tell who allowed it", _yes("approvals")),
    (
        "a call of an unknown tool is told",
        lambda table, _: f"as a completed `{table['unknown_tool']}`" if table["unknown_tool"] else "as an error",
    ),
    ("reasoning tokens are counted as output too", lambda table, _: "no" if table["output_without"] else "yes"),
    ("limits that are not whole", lambda table, _: _refused_configuration(table)),
    ("no such model", _ends("not_found")),
    ("a refusal of the model server (400)", _ends("failed")),
    ("a stream without a finish reason", lambda table, _: _unfinished(table)),
    ("the text before an error in the stream", lambda table, _: "is told" if table["keeps_partial"] else "is lost"),
    ("a permission that nobody can give", _ends("rejected")),
    ("a request over the window, refused", lambda _, outcomes: _over(outcomes, "error")),
    ("a request over the window, answered with nothing", lambda _, outcomes: _over(outcomes, "empty_length")),
    ("hosts asked for: telemetry", _hosts("telemetry")),
    ("hosts asked for: the catalogue of models", _hosts("catalogue")),
    ("hosts asked for: Kilo's gateway", _hosts("gateway")),
    ("hosts asked for with all of that off", _hosts("always")),
    ("without a way out, with telemetry on", lambda table, _: "never ends" if table["lingers"] else "ends"),
)


def _refused_configuration(table: Table) -> str:
    return "the run is refused" if table["refuses_configuration"] else "the file is passed over"


def _unfinished(table: Table) -> str:
    return f"`{table['unfinished']}`, {'the model is asked again' if table['asks_again'] else 'the turn ends'}"


def _over(outcomes: Outcomes, policy: str) -> str:
    outcome = outcomes[file_name(over_window(policy).name)]
    told = sum(outline(event).startswith("error") for event in outcome["events"])
    return f"model calls: {len(outcome['calls'])}, error events: {told}, {_status(outcome['status'])}"


def _unlisted(_: Table, outcomes: Outcomes) -> str:
    outcome = outcomes[file_name(missing("unlisted").name)]
    return f"Model not found, model calls: {len(outcome['calls'])}, {_status(outcome['status'])}"


def _told_twice(_: Table, outcomes: Outcomes) -> str:
    ids = [event["part"]["id"] for event in outcomes[file_name(TOOLS.name)]["events"] if "part" in event]
    return "twice" if len(ids) != len(set(ids)) else "once"


_DOCUMENTED: tuple[Row, ...] = (
    ("a model that is not listed falls back to a budget of 32000", _unlisted),
    (
        "the budget is the output limit, at most 32000",
        lambda table, _: "the window caps it too" if table["window"] else "as documented",
    ),
    (
        "a run over the window, answered with nothing, ends without a word",
        lambda _, outcomes: _over(outcomes, "empty_length"),
    ),
    ("every part event is printed twice", _told_twice),
    (
        "without `interleaved.field` reasoning is dropped",
        lambda table, _: f"read from {' and '.join(table['reasoning_fields'])}",
    ),
    ("the model's name is split at the first slash", lambda *_: "as documented (KC-SPLIT-1)"),
)
"""What the change that put Kilo on a model server says of the CLI, in our words, and what was seen."""


def page(tables: Mapping[str, Table], outcomes: Mapping[str, Outcomes]) -> str:
    """The page for tables and outcomes by version, oldest first."""
    known = ", ".join(f"{version} ({len(kept)} starts)" for version, kept in outcomes.items())
    sections = [
        _INTRO,
        f"Recorded: {known}.",
        "\n## What differs\n",
        _table(_ROWS, tables, outcomes),
        "\n## What is documented, and what was seen\n",
        _table(_DOCUMENTED, tables, outcomes),
        *(_section(one, other, outcomes[one], outcomes[other]) for one, other in pairwise(outcomes)),
    ]
    return "\n".join([*sections, ""])


def _table(rows: Sequence[Row], tables: Mapping[str, Table], outcomes: Mapping[str, Outcomes]) -> str:
    told = [f"| | {' | '.join(tables)} |", f"| --- |{' --- |' * len(tables)}"]
    for label, cell in rows:
        told.append(f"| {label} | {' | '.join(cell(tables[version], outcomes[version]) for version in tables)} |")
    return "\n".join(told)


def _section(one: str, other: str, before: Outcomes, after: Outcomes) -> str:
    """What changed from one version to the next, each line once, with the number of starts that show it."""
    changed = [differences(name, before[name], outcome) for name, outcome in after.items() if name in before]
    counted = Counter(line for lines in changed for line in lines)
    told = [f"{_cut(line)}  ({count} starts)" for line, count in counted.most_common()]
    more = [f"… and {len(told) - _SHOWN} lines more"] if len(told) > _SHOWN else []
    same = f"{sum(not lines for lines in changed)} of {len(changed)} starts came out the same."
    shown = ["", "```diff", *told[:_SHOWN], *more, "```"] if told else []
    return "\n".join([f"\n## From {one} to {other}\n", same, *shown])


def _cut(line: str) -> str:
    return line if len(line) <= _WIDTH else f"{line[:_WIDTH]}…"


def recorded_page() -> str:
    """The page for what is recorded."""
    return page({version: table_of(version) for version in versions()}, {v: recorded(v) for v in versions()})


if __name__ == "__main__":
    PAGE.write_text(recorded_page(), encoding="utf-8")
