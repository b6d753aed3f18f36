"""A mutant: a reference that is broken in one way, and what must notice it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar

from harness.errors import UsageError

P = TypeVar("P")
Serve = Callable[[Sequence[str], P, str], int]
"""Serves what is made of these parts, as its command line tells; the last argument is how it was called."""


@dataclass(frozen=True)
class Mutant(Generic[P]):
    """A change to the parts `P` of a reference.

    `does` says what is wrong, `caught_by` names the requirements whose checks must fail because of it; no
    check of any other requirement may. `of` is the built-in target that it is a variant of.
    """

    name: str
    does: str
    caught_by: frozenset[str]
    apply: Callable[[P], P]
    of: str = "reference"


M = TypeVar("M", bound=Mutant[Any])


def changing(name: str, does: str, *caught_by: str, **changes: Any) -> Mutant[Any]:
    """A mutant that has other values for these fields of the parts."""
    return Mutant(name, does, frozenset(caught_by), lambda parts: replace(parts, **changes))


def remembering(name: str, does: str, caught_by: str, make: Callable[[], Mapping[str, Any]]) -> Mutant[Any]:
    """A mutant that remembers something: `make` makes its fields anew for each server."""
    return Mutant(name, does, frozenset({caught_by}), lambda parts: replace(parts, **make()))


def named(name: str, mutants: Sequence[M]) -> M:
    """The one of that name; raises UsageError."""
    for mutant in mutants:
        if mutant.name == name:
            return mutant
    raise UsageError(f"no mutant is called {name!r}", f"Known: {', '.join(mutant.name for mutant in mutants)}.")


def served(arguments: Sequence[str], mutants: Sequence[Mutant[P]], serve: Serve[P], parts: P, module: str) -> int:
    """Serve the mutant that the first argument names, made of `parts`; the exit code."""
    try:
        mutant = named(arguments[0] if arguments else "", mutants)
    except UsageError as error:
        sys.stderr.write(f"{error.message}\n{error.hint}\n")
        return error.exit_code
    return serve(arguments[1:], mutant.apply(parts), f"python -m {module} {mutant.name}")
