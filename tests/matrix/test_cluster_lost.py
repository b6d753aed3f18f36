"""How cells come back from a cluster, and how it is lost: over a stand-in for Ray, which need not be installed."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from harness.errors import HarnessError
from harness.matrix import cluster as clusters
from harness.matrix.child import Returned
from harness.matrix.cluster import Cluster
from harness.matrix.executor import Watch
from harness.matrix.plan import Comparison, Task

TASKS = Comparison("kilo", "kilo_cli", ("1.0.0", "2.0.0")).tasks
GOOD = Returned(0, b"results", "", 1.0)


class RayError(Exception):
    pass


class Ray:
    """Does at once what a cluster would do; `get` and `wait` may be replaced."""

    def __init__(self) -> None:
        self.exceptions = SimpleNamespace(RayError=RayError)
        self.joined, self.options, self.cancelled = [""], dict[str, Any](), list[Any]()

    def init(self, address: str, **_: object) -> None:
        self.joined.append(address)

    def shutdown(self) -> None:
        self.joined.pop()

    def remote(self, **options: object) -> Callable[[object], Any]:
        self.options.update(options)
        return lambda _function: SimpleNamespace(remote=lambda arguments, *_: arguments)

    def wait(self, waiting: list[Any], **_: object) -> tuple[list[Any], list[Any]]:
        return waiting[:1], waiting[1:]

    def get(self, _reference: object) -> Returned:
        return GOOD

    def cancel(self, reference: object) -> None:
        self.cancelled.append(reference)


@pytest.fixture
def ray(monkeypatch: pytest.MonkeyPatch) -> Ray:
    found = Ray()
    monkeypatch.setitem(sys.modules, "ray", found)
    monkeypatch.setattr(clusters, "_reach", lambda _address: None)
    monkeypatch.setattr(clusters, "_join", lambda _address: None)
    return found


def came_back() -> list[tuple[Task, Returned]]:
    return list(Cluster("host:1").run(TASKS, 1.0, Watch()))


def test_cells_come_back_from_the_cluster_that_was_named(ray: Ray) -> None:
    running = Cluster("host:1").run(TASKS, 1.0, Watch())
    assert next(running) == (TASKS[0], GOOD)
    assert ray.joined == ["", "host:1"]
    assert list(running) == [(TASKS[1], GOOD)]
    assert ray.joined == [""]


def test_lost_cells_are_run_again_a_few_times(ray: Ray) -> None:
    came_back()
    assert ray.options["max_retries"] == clusters.RETRIES > 0


def test_cell_that_is_lost_for_good_comes_back_without_results(ray: Ray, monkeypatch: pytest.MonkeyPatch) -> None:
    def get(reference: object) -> Returned:
        if reference == TASKS[0].arguments:
            raise RayError("the worker died")
        return GOOD

    monkeypatch.setattr(ray, "get", get)
    (_, lost), (_, good) = came_back()
    assert (lost.exit_code, lost.results) == (4, b"")
    assert lost.said == "no worker brought it to its end: RayError: the worker died"
    assert good == GOOD


@pytest.mark.parametrize("error", [OSError("broken pipe"), RayError("gone")])
def test_cluster_that_is_lost_is_an_error_that_says_how_to_go_on(
    ray: Ray, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    def lost(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr(ray, "wait", lost)
    with pytest.raises(HarnessError, match="the Ray cluster at host:1 was lost: ") as told:
        came_back()
    assert "--resume" in told.value.hint
    assert ray.joined == [""]


def test_who_leaves_early_ends_what_runs(ray: Ray) -> None:
    running = Cluster("host:1").run(TASKS, 1.0, Watch())
    next(running)
    running.close()
    assert ray.cancelled == [TASKS[1].arguments]
    assert ray.joined == [""]
