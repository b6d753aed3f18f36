"""Broken model servers, each a small change to a face of the stand-in."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from harness.errors import UsageError
from harness.fakes.model.face import Face
from harness.mutants.mutant import Mutant


@dataclass(frozen=True)
class Flaw(Mutant[Face]):
    """A change to the face of that name."""

    face: str = "openai"


def _flaw(name: str, does: str, caught_by: str, face: str = "openai", **changes: Any) -> Flaw:
    return Flaw(name, does, frozenset(caught_by.split()), lambda shown: replace(shown, **changes), face)


FLAWS: tuple[Flaw, ...] = ()


def find(name: str) -> Flaw:
    """The flaw of that name; raises UsageError."""
    for flaw in FLAWS:
        if flaw.name == name:
            return flaw
    known = ", ".join(flaw.name for flaw in FLAWS)
    raise UsageError(f"there is no flaw {name!r} of the model server", f"Known: {known}.")
