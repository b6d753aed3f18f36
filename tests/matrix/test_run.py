"""Whole matrices, over stand-ins of the Kilo CLI in the place of fetched binaries."""

from __future__ import annotations

import json
import os
import shutil
import signal
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

import pytest

from harness.claimed_version import held_to
from harness.matrix.child import Returned
from harness.matrix.executor import Local, Watch
from harness.matrix.folder import CELL, CELLS
from harness.matrix.plan import Comparison, Matrix, Task
from harness.matrix.report import Report
from harness.matrix.run import run_matrix
from harness.replay import replay
from tests import running
from tests.matrix.binaries import kilo_in

CHECKS = "slash or is_not_there"
VERSIONS = ("7.0.33", "7.7.2", "7.7.7")
MATRIX = Matrix("kilo", (Comparison("kilo", "kilo_cli", (*VERSIONS, "9.9.9"), checks=CHECKS),))


@dataclass(frozen=True)
class Made:
    out: Path
    report: Report
    began: list[str]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Made]:
    """Three versions that are there, and one that cannot be fetched."""
    folder = tmp_path_factory.mktemp("matrix")
    for known in VERSIONS:
        kilo_in(folder / "cache", known)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TURNPROOF_CACHE", str(folder / "cache"))
        patch.setenv("PATH", os.devnull)
        began: list[str] = []
        watch = Watch(began=lambda task: began.append(task.version))
        yield Made(folder, run_matrix(MATRIX, folder, Local(2), watch), began)


def test_each_version_is_judged_by_a_run_of_its_own(made: Made) -> None:
    (section,) = made.report.sections
    assert [outcome.exit_code for outcome in section.outcomes[:3]] == [0, 0, 0]
    runs = {outcome.summary.results.header.run for outcome in section.outcomes if outcome.summary}
    assert len(runs) == 3


def test_version_that_cannot_be_fetched_is_told_and_not_run(made: Made) -> None:
    last = made.report.outcomes[-1]
    assert (last.exit_code, last.summary) == (2, None)
    assert "npm is not installed" in last.reason
    assert "9.9.9" not in made.began


def test_exit_code_is_the_worst_of_all_cells(made: Made) -> None:
    assert made.report.exit_code == 2


def test_what_became_different_is_found_though_no_verdict_changed(made: Made) -> None:
    first, second = made.report.sections[0].steps
    assert {row.change for row in first.verdicts.rows} == {"unchanged"}
    assert first.behaviour is not None
    assert [row.requirement.id for row in first.behaviour.of("regressed")] == ["KC-SPLIT-2"]
    assert second.behaviour is not None
    assert second.behaviour.of("regressed") == ()


def test_run_held_to_its_own_version_comes_to_its_own_verdicts(made: Made) -> None:
    summary = made.report.outcomes[0].summary
    assert summary is not None
    again = held_to(summary.results, "7.0.33")
    assert [row.verdict for row in again.rows] == [row.verdict for row in summary.rows]


def test_cells_results_can_be_verified(made: Made) -> None:
    for outcome in made.report.outcomes[:3]:
        assert outcome.summary is not None
        assert all(check.agrees for check in replay(outcome.summary.results))


def test_reports_are_beside_the_cells(made: Made) -> None:
    assert "does otherwise in 1 of 2 requirements" in (made.out / "matrix.md").read_text()
    assert json.loads((made.out / "matrix.json").read_text())["exit_code"] == 2
    assert len(list((made.out / CELLS).iterdir())) == 4


def test_finished_cells_are_kept_when_the_matrix_is_resumed(made: Made) -> None:
    began: list[str] = []
    report = run_matrix(MATRIX, made.out, Local(), Watch(began=lambda task: began.append(task.version)), resume=True)
    assert began == []
    assert report.outcomes == made.report.outcomes


class Elsewhere:
    """Says that each cell was run by another version of turnproof, and conforms."""

    def run(self, tasks: Sequence[Task], within: float, watch: Watch) -> Generator[tuple[Task, Returned], None, None]:
        for task in tasks:
            yield task, Returned(0, b"results", "", within, "", "a node", "0.0.1")


def test_cell_of_another_version_of_turnproof_is_not_taken(tmp_path: Path) -> None:
    report = run_matrix(MATRIX, tmp_path, Elsewhere(), Watch())
    assert {(outcome.exit_code, outcome.summary) for outcome in report.outcomes} == {(2, None)}
    assert report.outcomes[0].reason == f"a node has turnproof 0.0.1, and this is {version('turnproof')}"


def test_cell_that_another_version_of_turnproof_made_is_run_again(made: Made, tmp_path: Path) -> None:
    shutil.copytree(made.out / CELLS, tmp_path / CELLS)
    path = tmp_path / CELLS / MATRIX.tasks[0].folder / CELL
    path.write_text(path.read_text().replace(version("turnproof"), "0.0.1"))
    report = run_matrix(MATRIX, tmp_path, Elsewhere(), Watch(), resume=True)
    assert [outcome.exit_code for outcome in report.outcomes] == [2, 0, 0, 2]


def test_interrupted_matrix_leaves_no_process_behind(tmp_path: Path) -> None:
    kilo_in(tmp_path / "cache", "7.7.9")
    (tmp_path / "m.toml").write_text(
        'name = "m"\n[[compare]]\nbinary = "kilo"\nsuite = "kilo_cli"\nversions = ["7.7.9"]\n'
    )
    cache = {"TURNPROOF_CACHE": str(tmp_path / "cache")}
    with running.Run("matrix", "m.toml", "--out", "out", cwd=tmp_path, env=cache) as run:
        run.until("begins")
        run.signal(signal.SIGINT)
        assert run.wait() == 130
        assert run.left() == {}
    assert list((tmp_path / "out" / CELLS).iterdir()) == []
