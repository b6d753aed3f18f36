from __future__ import annotations

from collections.abc import Iterator

import pytest

from harness.engine import Engine


@pytest.fixture
def engine() -> Iterator[Engine]:
    with Engine() as running:
        yield running
