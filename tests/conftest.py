from __future__ import annotations

from collections.abc import Iterator

import pytest
from xdist.scheduler import LoadScopeScheduling  # type: ignore[import-untyped]

from harness.engine import Engine

TOGETHER = ("record/test_kilo.py", "record/test_stand_in.py", "matrix/test_run.py", "test_attached_run.py")
"""Files whose tests share what is dear to make. (The marker of pytest-xdist for that does nothing with pytest 9.2.)"""

FIRST = ("suites/test_kilo_agent.py", "docs/test_example_aiohttp.py", "matrix/test_child.py", "test_killed_run.py")
"""Files with tests that take long: none of them is to be the last that a worker is left with."""


class Scheduling(LoadScopeScheduling):  # type: ignore[misc]
    """Hands out single tests, but those of some files together."""

    def _split_scope(self, nodeid: str) -> str:
        file = nodeid.partition("::")[0]
        return file if file.endswith(TOGETHER) else nodeid


def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> LoadScopeScheduling:
    return Scheduling(config, log)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(key=lambda item: not item.nodeid.partition("::")[0].endswith(FIRST))


@pytest.fixture
def engine() -> Iterator[Engine]:
    with Engine() as running:
        yield running
