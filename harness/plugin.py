"""The pytest plugin that installing turnproof brings into every pytest run: it only makes the marker known.

A conformance run is a pytest run of its own, with `harness.suite_plugin`; see `harness.run`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pytest


def pytest_configure(config: pytest.Config) -> None:
    """Hook: https://docs.pytest.org/en/stable/reference/reference.html#pytest.hookspec.pytest_configure."""
    config.addinivalue_line("markers", "requirement(*ids): the requirements of the contract that a check claims")
