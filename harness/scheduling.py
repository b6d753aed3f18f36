"""How pytest-xdist hands checks or tests to its workers: one by one, but those of some files together."""

from __future__ import annotations

import pytest
from xdist.scheduler import LoadScopeScheduling  # type: ignore[import-untyped]


class FileScheduling(LoadScopeScheduling):  # type: ignore[misc]
    """Keeps what is in a file whose path ends with one of `together` in one worker.

    The marker of pytest-xdist for that (`xdist_group`) does nothing with pytest 9.2.
    """

    def __init__(self, config: pytest.Config, log: object, together: tuple[str, ...]) -> None:
        super().__init__(config, log)
        self._together = together

    def _split_scope(self, nodeid: str) -> str:
        file = nodeid.partition("::")[0]
        return file if file.endswith(self._together) else nodeid
