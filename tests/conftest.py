from __future__ import annotations

from collections.abc import Iterator

import pytest
from xdist.scheduler import LoadScopeScheduling  # type: ignore[import-untyped]

from harness.engine import Engine

TOGETHER = ("record/test_kilo.py", "record/test_stand_in.py", "matrix/test_run.py", "test_attached_run.py")
"""Files whose tests share what is dear to make. With pytest 9.2 the marker of pytest-xdist 3.8 for that does nothing."""


class Scheduling(LoadScopeScheduling):  # type: ignore[misc]
    """Hands out single tests, but those of some files together."""

    def _split_scope(self, nodeid: str) -> str:
        file = nodeid.partition("::")[0]
        return file if file.endswith(TOGETHER) else nodeid


def pytest_xdist_make_scheduler(config: pytest.Config) -> LoadScopeScheduling:
    return Scheduling(config)


@pytest.fixture
def engine() -> Iterator[Engine]:
    with Engine() as running:
        yield running
