"""Broken opencode servers, each a small change to the behaviour of the stand-in."""

from __future__ import annotations

import sys

from harness.fakes.opencode.behaviour import Behaviour
from harness.fakes.opencode.serve import main
from harness.mutants.mutant import Mutant, named
from harness.mutants.opencode_children import CHILDREN
from harness.mutants.opencode_config import CONFIG
from harness.mutants.opencode_failures import FAILURES
from harness.mutants.opencode_hearing import HEARING
from harness.mutants.opencode_questions import QUESTIONS
from harness.mutants.opencode_surface import SURFACE
from harness.mutants.opencode_turns import TURNS

FLAWS: tuple[Mutant[Behaviour], ...] = (*SURFACE, *TURNS, *HEARING, *FAILURES, *QUESTIONS, *CONFIG, *CHILDREN)


def find(name: str) -> Mutant[Behaviour]:
    """The flaw of that name; raises UsageError."""
    return named(name, FLAWS)


if __name__ == "__main__":
    sys.exit(main(sys.argv[2:], find(sys.argv[1]).apply(Behaviour())))
