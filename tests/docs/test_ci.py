from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
import yaml

from harness.reporting.conclusion import WORDS
from harness.reporting.names import NAMES
from tests.action_runner import ACTION, ROOT

PAGE = (ROOT / "docs" / "ci.md").read_text(encoding="utf-8")


def _rows(heading: str) -> list[list[str]]:
    """The cells of the table whose first column has this heading."""
    table = PAGE.partition(f"| {heading} |")[2].partition("\n\n")[0]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines()[2:]]


def _snippets() -> list[Any]:
    return [yaml.safe_load(text) for text in re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL)]


def _steps(value: Any) -> Iterator[dict[str, Any]]:
    """Every step of a snippet."""
    if isinstance(value, dict):
        if "uses" in value or "run" in value:
            yield value
        for entry in value.values():
            yield from _steps(entry)
    elif isinstance(value, list):
        for entry in value:
            yield from _steps(entry)


def test_inputs_of_the_action_are_those_of_the_page() -> None:
    assert [cells[0].strip("`") for cells in _rows("input")] == list(ACTION["inputs"])


def test_defaults_of_the_action_are_those_of_the_page() -> None:
    told = {cells[0].strip("`"): cells[1].strip("`") for cells in _rows("input") if cells[1].startswith("`")}
    assert told == {name: entry["default"] for name, entry in ACTION["inputs"].items() if entry["default"]}


def test_outputs_of_the_action_are_named() -> None:
    assert all(f"`{name}`" in PAGE for name in ACTION["outputs"])


def test_verdicts_of_the_page_are_those_of_runs() -> None:
    told = {int(cells[0]): cells[1] for cells in _rows("exit code")}
    assert told.pop(2).startswith("not judged")
    assert told == WORDS
    assert all(word in ACTION["outputs"]["verdict"]["description"] for word in WORDS.values())


def test_every_report_is_named() -> None:
    named = {name for cells in _rows("file") for name in re.findall(r"`([^`]+)`", cells[0])}
    assert named == {"results.jsonl", *NAMES}


@pytest.mark.parametrize("number", range(len(_snippets())))
def test_no_snippet_puts_an_expression_into_a_script(number: int) -> None:
    steps = list(_steps(_snippets()[number]))
    assert [step for step in steps if "${{" in str(step.get("run", ""))] == []


def test_snippets_use_the_action_with_inputs_that_it_has() -> None:
    uses = [step for snippet in _snippets() for step in _steps(snippet) if "turnproof" in step.get("uses", "")]
    assert len(uses) == 2
    assert all(set(step["with"]) <= set(ACTION["inputs"]) for step in uses)
