from __future__ import annotations

import pickle
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from harness.chat import ask
from harness.errors import TargetNotReady
from harness.results import CheckResult
from harness.target import Ready
from harness.target_file import load
from harness.target_keys import FromCommand, Key
from harness.worker import WorkerSettings, WorkerSetup, WorkerSubject, pytest_configure
from tests.running import canned
from tests.staging import target_at

RESULT = CheckResult("c", ("AE-AUTH-1",), "pass", 0.1)


@pytest.fixture
def settings(tmp_path: Path) -> WorkerSettings:
    return WorkerSettings(load(Path(canned(tmp_path))), None, "seed", {"AE-AUTH-1": None}, frozenset({"c"}))


@pytest.fixture
def subject(settings: WorkerSettings) -> Iterator[WorkerSubject]:
    made = WorkerSubject(settings, 1)
    yield made
    made.close()


def numbers(subject: WorkerSubject) -> list[int]:
    """The numbers of the exchanges of a check that asks twice."""
    context = subject.begin("c")
    assert context.running is not None
    for label in ("one", "two"):
        context.running.begin(ask("solver", "Hello"), label).result()
    return [record["number"] for record in subject.end(context, RESULT) if record["record"] == "exchange"]


def test_exchanges_of_workers_have_numbers_apart(subject: WorkerSubject) -> None:
    assert numbers(subject) == [2_000_001, 2_000_002]


def test_target_is_launched_once_for_all_checks_of_a_worker(subject: WorkerSubject) -> None:
    assert numbers(subject) + numbers(subject) == list(range(2_000_001, 2_000_005))


def test_target_that_does_not_come_up_is_told_at_the_check() -> None:
    broken = (Key("main", "valid", ("solver",), FromCommand(("/no/such",))),)
    deaf = target_at("http://127.0.0.1:1", keys=broken, ready=Ready(within=0.1))
    subject = WorkerSubject(WorkerSettings(deaf, None, "seed", {}, frozenset()), 0)
    with pytest.raises(TargetNotReady):
        subject.begin("c")


def test_worker_that_made_no_check_has_nothing_to_end(settings: WorkerSettings) -> None:
    WorkerSubject(settings, 0).close()


def test_settings_reach_the_worker_whole(settings: WorkerSettings) -> None:
    node = SimpleNamespace(workerinput={})
    WorkerSetup(settings, lambda: None).pytest_configure_node(node)
    (sent,) = node.workerinput.values()
    assert pickle.loads(sent) == settings


@pytest.mark.parametrize("attributes", [{}, {"workerinput": {"workerid": "gw0"}}], ids=["no worker", "of another run"])
def test_process_that_is_no_worker_of_a_run_is_left_alone(attributes: dict[str, Any]) -> None:
    options = SimpleNamespace()
    config: Any = SimpleNamespace(addinivalue_line=lambda _name, _line: None, option=options, **attributes)
    pytest_configure(config)
