"""Broken Kilo CLIs, each a small change to what the stand-in's `behaviour.json` says."""

from __future__ import annotations

from typing import Any

from harness.errors import UsageError
from harness.mutants.mutant import Mutant

Told = dict[str, Any]


def _rules(name: str, does: str, caught_by: str, **rules: Any) -> Mutant[Told]:
    return Mutant(name, does, frozenset({caught_by}), lambda told: {**told, "rules": rules})


def _faults(name: str, does: str, caught_by: str, **faults: Any) -> Mutant[Told]:
    return Mutant(name, does, frozenset({caught_by}), lambda told: {**told, "faults": faults})


FLAWS: tuple[Mutant[Told], ...] = (
    _faults("last_slash", "splits the model's name at the last slash", "KC-SPLIT-1", split_at_last=True),
    _rules("missing_exit_0", "exits with 0 when there is no such model", "KC-SPLIT-2", not_found=0),
)


def find(name: str) -> Mutant[Told]:
    """The flaw of that name; raises UsageError."""
    for flaw in FLAWS:
        if flaw.name == name:
            return flaw
    known = ", ".join(flaw.name for flaw in FLAWS)
    raise UsageError(f"there is no kilo flaw {name!r}", f"Known: {known}.")
