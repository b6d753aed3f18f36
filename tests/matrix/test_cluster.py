"""Cells as tasks of a Ray cluster of two nodes, both on this machine."""

from __future__ import annotations

import os
import re
import signal
import socket
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from harness.errors import UsageError
from harness.listener import free_port
from harness.matrix import cluster as clusters
from harness.matrix.cluster import Cluster
from harness.matrix.executor import Watch
from harness.matrix.plan import Comparison, Matrix
from harness.matrix.report import Report
from harness.matrix.run import run_matrix
from harness.supervised import Supervised
from tests import running
from tests.matrix.binaries import kilo_in

VERSIONS = ("7.7.2", "7.7.7")
MATRIX = Matrix("kilo", (Comparison("kilo", "kilo_cli", VERSIONS, checks="slash"),), within=240.0)
ONE = Matrix("kilo", (Comparison("kilo", "kilo_cli", VERSIONS[:1], checks="slash"),), within=240.0)
ADDRESS = re.compile(r"^address (\S+) (\d+)$")
NODES = """
import signal
from ray.cluster_utils import Cluster
node = {"num_cpus": 1, "include_dashboard": False}
cluster = Cluster(initialize_head=True, head_node_args=node)
second = cluster.add_node(**node).all_processes["raylet"][0].process.pid
print("address", cluster.address, second, flush=True)
signal.pause()
"""

with_ray = pytest.mark.extra("ray")


@pytest.fixture(scope="module", autouse=True)
def loopback() -> Iterator[None]:
    """Ray keeps to the loopback address; it reads that when it is imported."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER", "0")
        patch.setenv("RAY_USAGE_STATS_ENABLED", "0")
        yield


@contextmanager
def two_nodes(folder: Path) -> Iterator[tuple[str, int]]:
    """A cluster of two nodes, on which two versions of the CLI are in the cache: its address, and the second's pid."""
    for version in VERSIONS:
        kilo_in(folder / "cache", version)
    short = tempfile.TemporaryDirectory(prefix="ray-", dir="/tmp", ignore_cleanup_errors=True)
    with pytest.MonkeyPatch.context() as patch, short as sockets:  # whose paths have few characters
        patch.setenv("TURNPROOF_CACHE", str(folder / "cache"))
        patch.setenv("PATH", str(Path(sys.executable).parent))  # where no npm is
        patch.setenv("RAY_TMPDIR", sockets)
        argv = [sys.executable, "-c", NODES]
        with Supervised.start(argv, env=os.environ, cwd=folder, name="a Ray cluster") as nodes:
            told = nodes.wait_for_line(ADDRESS, time.monotonic() + 120.0)
            assert told is not None, nodes.output.text()
            _, address, second = told.split()
            yield address, int(second)


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a cluster that the tests share."""
    with two_nodes(tmp_path_factory.mktemp("cluster")) as (found, _):
        yield found


def workers() -> dict[int, int]:
    """The processes that run a cell now, each with its parent."""
    found: dict[int, int] = {}
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if (folder / "cmdline").read_bytes().startswith(b"ray::run_cell"):
                found[int(folder.name)] = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
    return found


def killing(count: int, *, node: int | None = None) -> Callable[[], list[int]]:
    """Kill the next workers that run a cell, one after another, or `node` once it runs one; the function that is
    returned waits for that, and tells what was killed."""
    killed: list[int] = []

    def kill() -> None:
        deadline = time.monotonic() + 120.0
        while len(killed) < count and time.monotonic() < deadline:
            for pid in workers() if node is None else {node}.intersection(workers().values()):
                if pid not in killed and len(killed) < count:
                    os.kill(pid, signal.SIGKILL)
                    killed.append(pid)
            threading.Event().wait(0.05)

    thread = threading.Thread(target=kill)
    thread.start()

    def wait() -> list[int]:
        thread.join()
        return killed

    return wait


@contextmanager
def watching(nodes: set[int]) -> Iterator[None]:
    """Note the processes of the nodes that run a cell meanwhile."""
    over = threading.Event()

    def watch() -> None:
        while not over.wait(0.05):
            nodes.update(workers().values())

    thread = threading.Thread(target=watch)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def run_on(address: str, out: Path, matrix: Matrix) -> Report:
    return run_matrix(matrix, out, Cluster(address), Watch())


@with_ray
def test_cells_are_run_on_the_nodes_and_come_back_whole(address: str, tmp_path: Path) -> None:
    nodes: set[int] = set()
    with watching(nodes):
        report = run_on(address, tmp_path, MATRIX)
    assert len(nodes) == 2
    assert [(outcome.exit_code, outcome.reason) for outcome in report.outcomes] == [(0, ""), (0, "")]
    assert all(outcome.summary and outcome.summary.finished for outcome in report.outcomes)


@with_ray
def test_cell_whose_worker_is_killed_is_run_again(address: str, tmp_path: Path) -> None:
    killed = killing(1)
    report = run_on(address, tmp_path, ONE)
    assert len(killed()) == 1
    assert [(outcome.exit_code, outcome.reason) for outcome in report.outcomes] == [(0, "")]


@with_ray
def test_cell_whose_node_is_lost_is_run_again(tmp_path: Path) -> None:
    with two_nodes(tmp_path) as (address, second):
        killed = killing(1, node=second)
        report = run_on(address, tmp_path / "out", MATRIX)
        assert len(killed()) == 1
        assert [(outcome.exit_code, outcome.reason) for outcome in report.outcomes] == [(0, ""), (0, "")]


@with_ray
def test_interrupted_matrix_ends_its_cells_on_the_nodes(address: str, tmp_path: Path) -> None:
    (tmp_path / "m.toml").write_text(
        'name = "m"\n[[compare]]\nbinary = "kilo"\nsuite = "kilo_cli"\nversions = ["7.7.2"]\n'
    )
    with running.Run("matrix", "m.toml", "--executor", "ray", "--address", address, cwd=tmp_path) as run:
        run.until("begins")
        deadline = time.monotonic() + 120.0
        while not workers() and time.monotonic() < deadline:
            threading.Event().wait(0.05)
        run.signal(signal.SIGINT)
        assert run.wait() == 130
    assert workers() == {}


@with_ray
def test_cell_whose_workers_are_all_killed_could_not_be_run(
    address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(clusters, "RETRIES", 1)
    killed = killing(2)
    report = run_on(address, tmp_path, ONE)
    assert len(killed()) == 2
    (outcome,) = report.outcomes
    assert (outcome.exit_code, outcome.summary) == (4, None)
    assert outcome.reason.startswith("no worker brought it to its end: ")


@with_ray
def test_version_that_a_node_cannot_fetch_could_not_be_run(address: str, tmp_path: Path) -> None:
    report = run_on(address, tmp_path, Matrix("kilo", (Comparison("kilo", "kilo_cli", ("0.0.0-none",)),)))
    (outcome,) = report.outcomes
    assert (outcome.exit_code, outcome.summary) == (2, None)
    assert "npm is not installed" in outcome.reason


@with_ray
def test_what_is_no_cluster_though_it_listens_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(clusters, "_JOIN_SECONDS", 5.0)
    with socket.create_server(("127.0.0.1", 0)) as server:
        cluster = Cluster(f"127.0.0.1:{server.getsockname()[1]}")
        with pytest.raises(UsageError, match="cannot be joined: it was not joined within 5 s"):
            run_matrix(ONE, tmp_path, cluster, Watch())


@with_ray
@pytest.mark.parametrize("text", ["auto", "local", "", "host", "host:x", "ray://host:1", "127.0.0.1:CLOSED"])
def test_address_at_which_no_cluster_can_be_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match=r"no address of a Ray cluster|no Ray cluster is at"):
        Cluster(text.replace("CLOSED", str(free_port())))


def test_cluster_without_ray_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(UsageError, match="Ray is not installed"):
        Cluster("127.0.0.1:1")
