"""Broken agents that wrap the Kilo CLI, each a small change to the reference's parts, and started with its arguments.

`python -m harness.mutants.kilo_agent NAME --port N --config FILE`
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from harness.mutants.kilo_agent_answers import ANSWERS
from harness.mutants.kilo_agent_runs import RUNS
from harness.mutants.kilo_agent_settings import SETTINGS
from harness.mutants.mutant import Mutant, named, served
from harness.reference.kilo.parts import Parts
from harness.reference.kilo.serve import serve

MUTANTS: tuple[Mutant[Parts], ...] = (*SETTINGS, *RUNS, *ANSWERS)


def find(name: str) -> Mutant[Parts]:
    """The mutant of that name; raises UsageError."""
    return named(name, MUTANTS)


def main(arguments: Sequence[str]) -> int:
    """Serve the mutant that the first argument names; the exit code."""
    return served(arguments, MUTANTS, serve, Parts(), "harness.mutants.kilo_agent")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
