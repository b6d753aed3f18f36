"""A mutant: a reference that is broken in one way, and what must notice it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

P = TypeVar("P")


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
