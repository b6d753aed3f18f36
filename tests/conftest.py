from __future__ import annotations

from collections.abc import Iterator

import pytest

from harness.engine import Engine
from harness.scheduling import FileScheduling
from tests.extras import expect_extra

TOGETHER = (
    "record/test_kilo.py",
    "record/test_stand_in.py",
    "matrix/test_run.py",
    "matrix/test_cluster.py",
    "test_attached_run.py",
)
"""Files whose tests share what is dear to make, or what there is one of."""

FIRST = (
    "suites/test_kilo_agent.py",
    "test_kilo_agents.py",
    "docs/test_example_aiohttp.py",
    "test_attached_run.py",
    "record/test_stand_in.py",
    "matrix/test_child.py",
    "test_killed_run.py",
)
"""Files with tests that take long: none of them is to be the last that a worker is left with."""


def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> FileScheduling:
    return FileScheduling(config, log, TOGETHER)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(key=lambda item: not item.nodeid.partition("::")[0].endswith(FIRST))


def pytest_runtest_setup(item: pytest.Item) -> None:
    expect_extra(item)


@pytest.fixture
def engine() -> Iterator[Engine]:
    with Engine() as running:
        yield running
