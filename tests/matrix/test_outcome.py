from __future__ import annotations

import itertools
from pathlib import Path

import pytest

from harness.matrix.child import Returned
from harness.matrix.folder import keep, prepare
from harness.matrix.outcome import WORST_FIRST, Outcome, outcome_in, worst
from harness.matrix.plan import Comparison
from harness.results import Results
from tests.sample_results import finding, result, results, write

(TASK,) = Comparison("kilo", "kilo_cli", ("1.0.0",)).tasks
PASSED = results([result("c", ("AE-A-1",), "pass")])
FAILED = results([result("c", ("AE-A-1",), "fail", finding()), result("d", ("AE-A-2",), "pass")])


def outcome(folder: Path, code: int, sample: Results | None, **rest: str) -> Outcome:
    prepare(folder)
    data = write(sample, folder / "sample.jsonl").read_bytes() if sample else b""
    keep(folder, TASK, Returned(code, data, **{"said": "it said this", "seconds": 3.0, **rest}))  # type: ignore[arg-type]
    return outcome_in(folder, TASK)


def test_finished_run_is_what_the_cell_says(tmp_path: Path) -> None:
    found = outcome(tmp_path, 0, PASSED)
    assert found.summary is not None
    assert (found.exit_code, found.reason, found.seconds) == (0, "", 3.0)


def test_run_that_does_not_conform_is_judged(tmp_path: Path) -> None:
    found = outcome(tmp_path, 1, FAILED)
    assert found.summary is not None
    assert found.exit_code == 1


def test_exit_code_of_results_and_run_is_the_worse_of_both(tmp_path: Path) -> None:
    assert outcome(tmp_path, 0, FAILED).exit_code == 1
    assert outcome(tmp_path, 4, FAILED).exit_code == 4


@pytest.mark.parametrize(
    ("code", "sample", "wanted", "words"),
    [
        (2, None, 2, "it said this"),
        (0, None, 4, "it said this"),
        (130, results([result("c", ("AE-A-1",), "pass")], outcome="interrupted"), 130, "unfinished: 1 of 1 checks"),
        (4, results([result("c", ("AE-A-1",), "pass")], outcome=None), 4, "unfinished: 1 of 1 checks were made"),
        (3, results([], outcome="not-ready", error="no answer"), 3, "target not ready: no answer"),
        (4, results([], outcome="error", error="broken"), 4, "harness error: broken"),
    ],
)
def test_cell_without_a_finished_run_says_why(
    tmp_path: Path, code: int, sample: Results | None, wanted: int, words: str
) -> None:
    found = outcome(tmp_path, code, sample)
    assert found.summary is None
    assert found.exit_code == wanted
    assert words in found.reason


def test_cell_that_was_ended_says_so_first(tmp_path: Path) -> None:
    found = outcome(tmp_path, 130, results(outcome="interrupted"), ended="it was not done within 5 s")
    assert found.reason.startswith("it was not done within 5 s; unfinished")


def test_cell_that_was_not_run_says_so(tmp_path: Path) -> None:
    found = outcome_in(tmp_path, TASK)
    assert (found.exit_code, found.summary, found.reason) == (4, None, "it was not run")


def test_results_that_are_none_are_not_judged(tmp_path: Path) -> None:
    prepare(tmp_path)
    keep(tmp_path, TASK, Returned(0, b"noise\n", "", 1.0))
    found = outcome_in(tmp_path, TASK)
    assert (found.exit_code, found.summary) == (4, None)
    assert "not a results file" in found.reason


def test_exit_codes_decide_in_the_documented_order() -> None:
    for one, other in itertools.combinations(WORST_FIRST, 2):
        assert worst([other, one]) == worst([one, other]) == one
    assert worst([0, 5, 1, 6, 3, 2, 4, 130]) == 130


def test_exit_code_that_nobody_knows_comes_before_all_others() -> None:
    assert worst([130, 99, 0]) == 99
