"""Are the checks worth anything? Every mutant must be caught, by exactly the requirements that it names."""

from __future__ import annotations

import multiprocessing
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from typing import Any

from harness.builtin import find_target
from harness.errors import UsageError
from harness.mutants import endpoint, kilo_agent, kilo_cli, live, model, opencode
from harness.mutants.mutant import Mutant, named
from harness.run import Observer, Order, run
from harness.supervised import own_process_dies_with_parent
from harness.verdict import summarise
from harness.work_folder import work_folder

_BROKEN = ("fail", "inconclusive", "not-run")
"""Verdicts of a requirement that catches a mutant. A check that breaks is a fault of ours, and catches nothing."""


@dataclass(frozen=True)
class Family:
    """The broken implementations that a suite must catch; the name of each as a target begins with `prefix`."""

    suite: str
    prefix: str
    mutants: tuple[Mutant[Any], ...]

    def find(self, name: str) -> Mutant[Any]:
        """The mutant of that name; raises UsageError."""
        return named(name, self.mutants)


FAMILIES = (
    Family("agent_endpoint", "mutant:", endpoint.MUTANTS),
    Family("opencode_server", "opencode-flaw:", opencode.FLAWS),
    Family("model_server", "model-flaw:", model.FLAWS),
    Family("kilo_cli", "kilo-flaw:", kilo_cli.FLAWS),
    Family("kilo_agent", "kilo-mutant:", kilo_agent.MUTANTS),
    Family("live_endpoint", "mutant:", live.ENDPOINTS),
    Family("live_kilo_agent", "kilo-mutant:", live.AGENTS),
)


def family_of(suite: str) -> Family:
    """The broken implementations of a suite; raises UsageError when it has none."""
    for family in FAMILIES:
        if family.suite == suite:
            return family
    raise UsageError(f"there are no mutants for a suite {suite!r}", f"{', '.join(f.suite for f in FAMILIES)} have some")


@dataclass(frozen=True)
class Catch:
    """What a run on a mutant came to: the requirements whose checks did not hold, against those it names.

    `failed` and `passed` are the checks, by their ids; what was not measured is in neither.
    """

    mutant: Mutant[Any]
    broken: frozenset[str]
    failed: frozenset[str] = frozenset()
    passed: frozenset[str] = frozenset()

    @property
    def missed(self) -> frozenset[str]:
        """Requirements that should have caught it and did not."""
        return self.mutant.caught_by - self.broken

    @property
    def needless(self) -> frozenset[str]:
        """Requirements that it does not name and that broke nevertheless."""
        return self.broken - self.mutant.caught_by


def chosen(names: Sequence[str], suite: str | None) -> list[tuple[Family, Mutant[Any]]]:
    """The mutants of these names, all when there are none, of a suite or of every one; raises UsageError."""
    families = FAMILIES if suite is None else (family_of(suite),)
    every = [(family, mutant) for family in families for mutant in family.mutants]
    for name in names:
        if all(mutant.name != name for _, mutant in every):
            raise UsageError(f"no mutant is called {name!r}", "turnproof mutants --list names them all.")
    return [(family, mutant) for family, mutant in every if not names or mutant.name in names]


def catches(mutants: Sequence[tuple[Family, Mutant[Any]]], own_only: bool, jobs: int) -> Iterator[Catch]:
    """What runs on these mutants come to, in their order, so many at a time; `own_only` as for `catch`.

    Raises TurnproofError when one cannot be judged.
    """
    jobs = min(jobs, len(mutants))
    if jobs < 2:
        yield from (catch(mutant, own_only, family) for family, mutant in mutants)
        return
    # A run has this process's output and pytest's state to itself, so each is in a process of its own.
    context = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(jobs, context, own_process_dies_with_parent)
    try:
        asked = [(family.suite, mutant.name, own_only) for family, mutant in mutants]
        for (_, mutant), found in zip(mutants, pool.map(_caught, asked), strict=True):
            yield Catch(mutant, *found)
    except BaseException:  # an interrupt does not wait for what is under way; its targets end with these processes
        for child in multiprocessing.active_children():
            child.kill()
        raise
    finally:
        pool.shutdown(cancel_futures=True)


def _caught(asked: tuple[str, str, bool]) -> tuple[frozenset[str], frozenset[str], frozenset[str]]:
    """What a process of its own has to tell of a mutant, which it cannot send back itself."""
    suite, name, own_only = asked
    family = family_of(suite)
    caught = catch(family.find(name), own_only, family)
    return caught.broken, caught.failed, caught.passed


def catch(mutant: Mutant[Any], own_only: bool = False, family: Family = FAMILIES[0]) -> Catch:
    """Run the suite on a mutant of `family`; with `own_only`, only the checks of the requirements that it names.

    Raises TurnproofError when the mutant cannot be judged.
    """
    requirements = mutant.caught_by if own_only else None
    with work_folder() as folder:
        target = find_target(f"{family.prefix}{mutant.name}")
        order = Order(target, family.suite, out=folder, requirements=requirements)
        results, error = run(order, Observer())
    if error is not None:
        raise error
    summary = summarise(results)
    broken = frozenset(row.requirement.id for row in summary.rows if row.verdict in _BROKEN)
    failed = frozenset(checked.check for checked in summary.checks if checked.status in _BROKEN)
    passed = frozenset(checked.check for checked in summary.checks if checked.status == "pass")
    return Catch(mutant, broken, failed, passed)


def idle(catches: Iterable[Catch]) -> frozenset[str]:
    """The checks, by their ids, that passed on every mutant on which they were made: none shows that they can fail."""
    every = list(catches)
    return frozenset().union(*(one.passed for one in every)) - frozenset().union(*(one.failed for one in every))
