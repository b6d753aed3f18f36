from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from harness.errors import UsageError
from harness.matrix.child import Returned
from harness.matrix.folder import CELL, CELLS, keep, kept, prepare
from harness.matrix.plan import Comparison

OLD, NEW = Comparison("kilo", "kilo_cli", ("1.0.0", "2.0.0")).tasks


@pytest.fixture
def out(tmp_path: Path) -> Path:
    prepare(tmp_path)
    return tmp_path


RETURNED = Returned(1, b"results\n", "said", 12.5, "", "node", "0.1.0")


def test_what_is_kept_is_had_again(out: Path) -> None:
    keep(out, OLD, RETURNED)
    assert kept(out, OLD) == RETURNED


def test_cell_that_was_not_kept_is_nothing(out: Path) -> None:
    keep(out, OLD, RETURNED)
    assert kept(out, NEW) is None


def test_cell_that_was_run_in_another_way_is_nothing(out: Path) -> None:
    keep(out, OLD, RETURNED)
    assert kept(out, replace(OLD, arguments=(*OLD.arguments, "--strict"))) is None
    assert kept(out, replace(OLD, binary="kilo@9.0.0")) is None


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"arguments": 1}', "noise"])
def test_cell_whose_record_was_spoilt_is_nothing(out: Path, text: str) -> None:
    keep(out, OLD, RETURNED)
    (out / CELLS / OLD.folder / CELL).write_text(text)
    assert kept(out, OLD) is None


def test_cell_that_is_kept_again_is_replaced_whole(out: Path) -> None:
    keep(out, OLD, RETURNED)
    (out / CELLS / OLD.folder / "more").touch()
    keep(out, OLD, replace(RETURNED, exit_code=0))
    assert kept(out, OLD) == replace(RETURNED, exit_code=0)
    assert {path.name for path in (out / CELLS / OLD.folder).iterdir()} == {"results.jsonl", CELL}
    assert [path.name for path in (out / CELLS).iterdir()] == [OLD.folder]


def test_record_tells_how_the_cell_was_run(out: Path) -> None:
    keep(out, OLD, RETURNED)
    record = json.loads((out / CELLS / OLD.folder / CELL).read_text())
    assert (record["binary"], record["arguments"], record["exit_code"]) == ("kilo@1.0.0", list(OLD.arguments), 1)


def test_folder_that_cannot_be_written_is_a_usage_error(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(UsageError, match="file: cannot be written"):
        prepare(tmp_path / "file")
    with pytest.raises(UsageError, match="cannot be written"):
        keep(tmp_path / "file", OLD, RETURNED)
