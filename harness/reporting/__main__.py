"""`python -m harness.reporting`: prints `docs/requirements.md` anew."""

from __future__ import annotations

import sys

from harness.mutation import FAMILIES
from harness.pytest_run import collect
from harness.reporting.requirements_page import requirements_page
from harness.requirements import catalogue, suites


def page() -> str:
    """The page for all suites as they are now."""
    caught: dict[str, list[str]] = {}
    for mutant in (mutant for family in FAMILIES for mutant in family.mutants):
        for id_ in mutant.caught_by:
            caught.setdefault(id_, []).append(mutant.name)
    names = suites()
    return requirements_page({n: catalogue(n) for n in names}, {n: collect(n) for n in names}, caught)


if __name__ == "__main__":
    sys.stdout.write(page())
