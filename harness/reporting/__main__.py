"""`python -m harness.reporting`: prints `docs/requirements.md` anew."""

from __future__ import annotations

import sys
from typing import Any

from harness.mutants.endpoint import MUTANTS
from harness.mutants.kilo_agent import MUTANTS as KILO_MUTANTS
from harness.mutants.kilo_cli import FLAWS as KILO_FLAWS
from harness.mutants.live import AGENTS, ENDPOINTS
from harness.mutants.model import FLAWS as MODEL_FLAWS
from harness.mutants.mutant import Mutant
from harness.mutants.opencode import FLAWS
from harness.pytest_run import collect
from harness.reporting.requirements_page import requirements_page
from harness.requirements import catalogue, suites


def page() -> str:
    """The page for all suites as they are now."""
    caught: dict[str, list[str]] = {}
    mutants: tuple[Mutant[Any], ...] = (*MUTANTS, *FLAWS, *MODEL_FLAWS, *KILO_FLAWS, *KILO_MUTANTS)
    for mutant in (*mutants, *ENDPOINTS, *AGENTS):
        for id_ in mutant.caught_by:
            caught.setdefault(id_, []).append(mutant.name)
    names = suites()
    return requirements_page({n: catalogue(n) for n in names}, {n: collect(n) for n in names}, caught)


if __name__ == "__main__":
    sys.stdout.write(page())
