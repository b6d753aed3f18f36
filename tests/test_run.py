from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from harness.cell import Shard
from harness.engine import Engine
from harness.errors import TargetNotReady, UsageError
from harness.pytest_run import collect
from harness.results import Results, read
from harness.run import Observer, Order, run
from harness.target import Target
from harness.target_file import load
from harness.target_keys import FromCommand, Key
from harness.verdict import summarise
from tests import running
from tests.sample_results import schema_errors
from tests.staging import KEY, answering, canned, serving, target_at

QUIET = Observer()
_ONCE = """
import pathlib, runpy, sys
flag = pathlib.Path({flag!r})
if flag.exists():
    sys.exit("only once")
flag.touch()
runpy.run_path({program!r}, run_name="__main__")
"""


@pytest.fixture
def target(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> Iterator[Target]:
    """A target that keeps the rules on keys, with nothing behind it."""
    monkeypatch.setenv("CANNED_KEY", KEY)
    with serving(engine, answering(canned)) as url:
        yield target_at(url)


Measure = Callable[..., Results]


@pytest.fixture
def measure(target: Target, tmp_path: Path) -> Measure:
    """Run some checks; what was measured."""

    def measure(expression: str = "good_key and header", observer: Observer = QUIET, **order: Any) -> Results:
        results, error = run(Order(target, expression=expression, out=tmp_path / "out", **order), observer)
        assert error is None
        return results

    return measure


def test_run_that_made_all_its_checks_is_finished(measure: Measure) -> None:
    results = measure()
    assert results.finished
    assert [check.verdict for check in results.checks] == ["pass"] * len(results.header.planned)


def test_results_file_is_of_its_schema(measure: Measure, tmp_path: Path) -> None:
    measure()
    lines = (tmp_path / "out" / "results.jsonl").read_text(encoding="utf-8").splitlines()
    problems = [error for line in lines for error in schema_errors("results.schema.json", json.loads(line))]
    assert problems == []


def test_what_cannot_be_measured_is_told_one_by_one(measure: Measure) -> None:
    results = measure("SCOPE-1 or (no_longer_good and expired)")
    assert {check.verdict for check in results.checks} == {"not-measured"}
    assert all(check.reason for check in results.checks)
    assert summarise(results).exit_code == 6


def test_observer_is_told_plan_steps_and_results(measure: Measure) -> None:
    told: list[Any] = []
    measure(
        observer=Observer(
            told.append,
            lambda step, _: told.append(step),
            lambda result: told.append(result.verdict),
        )
    )
    assert told[:2] == ["judging", 2]
    assert told[2:6] == ["it is ready", "its keys are had", "its keys work", "a turn is answered"]
    assert told[6:] == ["pass", "pass"]


def test_each_run_has_a_seed_of_its_own(measure: Measure) -> None:
    first, second = measure().header, measure().header
    assert first.seed != second.seed
    assert first.run != second.run


def test_earlier_results_in_the_folder_are_replaced(measure: Measure, tmp_path: Path) -> None:
    measure()
    measure("tail and models")
    assert len(read(tmp_path / "out" / "results.jsonl").checks) == 1


def test_options_are_on_record(measure: Measure) -> None:
    header = measure(strict=True, require_all=True).header
    assert (header.strict, header.require_all) == (True, True)


def test_a_run_of_chosen_checks_and_a_shard_know_that_they_are_a_part(measure: Measure) -> None:
    assert all(header.partial for header in (measure().header, measure("header", shard=Shard(1, 2)).header))
    assert measure().header.whole == len(collect("agent_endpoint"))


def test_target_that_is_not_ready_leaves_results_that_say_so(target: Target, tmp_path: Path) -> None:
    broken = (Key("main", "valid", ("solver",), FromCommand(("/no/such",))),)
    deaf = target_at(target.url or "", keys=broken)
    results, error = run(Order(deaf, expression="no_longer_good", out=tmp_path), QUIET)
    assert isinstance(error, TargetNotReady)
    assert results.footer is not None
    assert (results.footer.outcome, results.footer.run, results.checks) == ("not-ready", 0, ())
    assert results.footer.error == str(error)
    assert summarise(results).exit_code == 3


def test_folder_that_cannot_be_written_is_a_usage_error(target: Target, tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.touch()
    with pytest.raises(UsageError, match="cannot be written"):
        run(Order(target, out=file / "below"), QUIET)


def test_workers_make_the_same_checks(tmp_path: Path) -> None:
    target = load(Path(running.canned(tmp_path)))
    results, error = run(Order(target, expression="good_key and (header or scheme)", out=tmp_path, workers=2), QUIET)
    assert error is None
    assert results.finished
    assert {check.verdict for check in results.checks} == {"pass"}


def test_worker_whose_target_does_not_come_up_is_told(tmp_path: Path) -> None:
    program = tmp_path / "once.py"
    program.write_text(_ONCE.format(flag=str(tmp_path / "flag"), program=str(running.ENDPOINTS / "canned.py")))
    path = Path(running.canned(tmp_path))
    path.write_text(path.read_text().replace(str(running.ENDPOINTS / "canned.py"), str(program)))
    results, error = run(Order(load(path), expression="good_key and header", out=tmp_path, workers=2), QUIET)
    assert isinstance(error, TargetNotReady)
    assert "it ended with status 1 before it was ready" in error.message
    assert results.footer is not None
    assert results.footer.outcome == "not-ready"
