from __future__ import annotations

import json
import os
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path

import pytest

from harness.matrix.child import Returned, run_cell
from tests import running
from tests.matrix.binaries import kilo_in

Records = list[dict[str, object]]


@pytest.fixture
def cell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Returned]:
    """Run turnproof with these arguments as a cell; the binary that it is about is there."""
    monkeypatch.setenv("TURNPROOF_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    kilo_in(tmp_path / "cache", "7.7.9")

    def cell(*arguments: str, binary: str = "kilo@7.7.9", within: float = running.SECONDS, **rest: object) -> Returned:
        return run_cell(("run", *arguments), binary, within, **rest)  # type: ignore[arg-type]

    return cell


def records(returned: Returned) -> Records:
    return [json.loads(line) for line in returned.results.splitlines()]


def test_cell_returns_a_whole_run(cell: Callable[..., Returned], tmp_path: Path) -> None:
    target = running.canned(tmp_path)
    returned = cell("--target", target, "-k", "good_key and header and models")
    *_, check, footer = records(returned)
    assert (check["verdict"], footer["outcome"]) == ("pass", "finished")
    assert (returned.exit_code, returned.ended, returned.turnproof) == (0, "", version("turnproof"))
    assert "1/1 pass" in returned.said


def test_last_line_of_a_cell_that_ends_before_it_is_looked_at_is_told(
    cell: Callable[..., Returned], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("harness.matrix.child._LOOK", running.SECONDS)
    said: list[str] = []
    returned = cell("--target", running.canned(tmp_path), "-k", "good_key and header and models", say=said.append)
    assert said == returned.said.splitlines()[-1:]


def test_cell_that_cannot_begin_returns_its_exit_code_and_what_it_said(
    cell: Callable[..., Returned], tmp_path: Path
) -> None:
    before = {path.name for path in tmp_path.iterdir()}
    returned = cell("--target", "nothing.toml")
    assert (returned.exit_code, returned.results) == (2, b"")
    assert "nothing.toml: no such file" in returned.said
    assert {path.name for path in tmp_path.iterdir()} == before


def test_cell_whose_time_is_over_is_ended_and_says_so(cell: Callable[..., Returned], tmp_path: Path) -> None:
    returned = cell("--target", running.canned(tmp_path), within=0.1)
    assert returned.exit_code == 130
    assert returned.ended.startswith("it was not done within ")


def test_cell_that_is_stopped_has_time_to_write_its_footer(cell: Callable[..., Returned], tmp_path: Path) -> None:
    said: list[str] = []
    target = running.canned(tmp_path, delay=300.0)
    begun = "judging: canned"  # what comes after it is said while the results file is there
    returned = cell("--target", target, say=said.append, stopped=lambda: bool(said) and said[-1] != begun)
    assert (returned.exit_code, returned.ended) == (130, "the matrix was interrupted")
    assert records(returned)[-1]["outcome"] == "interrupted"


def test_binary_that_cannot_be_had_keeps_a_cell_from_running(
    cell: Callable[..., Returned], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", os.devnull)
    returned = cell("--target", "kilo@7.7.8", binary="kilo@7.7.8")
    assert (returned.exit_code, returned.results) == (2, b"")
    assert "npm is not installed" in returned.said
