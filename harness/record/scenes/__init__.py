"""What is done to an opencode server for a recording, in the order in which it is recorded."""

from __future__ import annotations

from harness.record.scenario import SCENARIOS, Scenario
from harness.record.scenes import (
    children,
    configured,
    failures,
    hearing,
    interference,
    processes,
    questions,
    surface,
    turns,
)

_MODULES = (surface, turns, failures, interference, questions, children, hearing, configured, processes)


def scenarios() -> tuple[Scenario, ...]:
    """All scenarios."""
    return tuple(each for module in _MODULES for each in SCENARIOS if each.play.__module__ == module.__name__)
