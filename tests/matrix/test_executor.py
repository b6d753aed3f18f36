from __future__ import annotations

import threading
from collections.abc import Callable, Sequence

import pytest

from harness.errors import UsageError
from harness.matrix import executor as executors
from harness.matrix.child import Returned
from harness.matrix.executor import Local, Watch, executor_named
from harness.matrix.plan import Comparison, Task

TASKS = Comparison("kilo", "kilo_cli", ("1.0.0", "2.0.0", "3.0.0")).tasks
Cell = Callable[..., Returned]


def returned(code: int = 0) -> Returned:
    return Returned(code, b"", "", 1.0)


@pytest.fixture
def cells(monkeypatch: pytest.MonkeyPatch) -> Callable[[Cell], None]:
    """Have a function in the place of `run_cell`."""
    return lambda cell: monkeypatch.setattr(executors, "run_cell", cell)


def test_each_cell_is_run_once_with_its_arguments(cells: Callable[[Cell], None]) -> None:
    given: list[tuple[Sequence[str], str, float]] = []

    def cell(arguments: Sequence[str], binary: str, within: float, **_: object) -> Returned:
        given.append((arguments, binary, within))
        return returned()

    cells(cell)
    assert [task for task, _ in Local().run(TASKS, 7.0, Watch())] == list(TASKS)
    assert given == [(task.arguments, task.binary, 7.0) for task in TASKS]


def test_one_cell_runs_at_a_time_unless_more_are_wished(cells: Callable[[Cell], None]) -> None:
    lock, under, most = threading.Lock(), [0], [0]

    def cell(*_: object, **__: object) -> Returned:
        with lock:
            under[0] += 1
            most[0] = max(most[0], under[0])
        with lock:
            under[0] -= 1
        return returned()

    cells(cell)
    list(Local().run(TASKS, 1.0, Watch()))
    assert most == [1]


def test_as_many_cells_run_at_once_as_are_wished(cells: Callable[[Cell], None]) -> None:
    together = threading.Barrier(3, timeout=20.0)

    def cell(*_: object, **__: object) -> Returned:
        together.wait()
        return returned()

    cells(cell)
    assert len(list(Local(3).run(TASKS, 1.0, Watch()))) == 3


def test_who_leaves_early_stops_what_runs_and_begins_no_more(cells: Callable[[Cell], None]) -> None:
    begun: list[str] = []

    def cell(_arguments: object, binary: str, _within: object, *, stopped: Callable[[], bool], **_: object) -> Returned:
        begun.append(binary)
        if len(begun) > 1:
            while not stopped():
                threading.Event().wait(0.01)
        return returned()

    cells(cell)
    running = Local().run(TASKS, 1.0, Watch())
    next(running)
    running.close()
    assert len(begun) <= 2


def test_what_a_cell_says_is_told_with_its_name(cells: Callable[[Cell], None]) -> None:
    told: list[tuple[str, str]] = []

    def cell(*_: object, say: Callable[[str], None], **__: object) -> Returned:
        say("a line")
        return returned()

    cells(cell)
    began: list[Task] = []
    watch = Watch(began=began.append, said=lambda task, line: told.append((task.version, line)))
    list(Local().run(TASKS[:1], 1.0, watch))
    assert (began, told) == ([TASKS[0]], [("1.0.0", "a line")])


@pytest.mark.parametrize(
    ("name", "jobs", "address", "words"),
    [
        ("local", None, "127.0.0.1:1", "--address is for --executor ray"),
        ("ray", 2, "127.0.0.1:1", "--jobs is for --executor local"),
        ("ray", None, None, "--executor ray needs --address"),
    ],
)
def test_options_that_do_not_fit_the_executor_are_refused(
    name: str, jobs: int | None, address: str | None, words: str
) -> None:
    with pytest.raises(UsageError, match=words):
        executor_named(name, jobs, address)
