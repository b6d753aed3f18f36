from __future__ import annotations

import itertools
from collections.abc import Sequence

import pytest

from harness.cell import WHOLE, Shard
from harness.errors import UsageError
from harness.pytest_run import collect
from harness.requirements import suites
from harness.results import Planned
from harness.sharding import share_of


def planned(*claims: str) -> tuple[Planned, ...]:
    """A check for each text of requirement letters."""
    return tuple(
        Planned(f"c{number}", tuple(f"AE-A-{letter}" for letter in letters), "t")
        for number, letters in enumerate(claims)
    )


def shards(checks: Sequence[Planned], count: int) -> list[list[str]]:
    return [[check.check for check in share_of(checks, Shard(number, count))] for number in range(1, count + 1)]


def test_the_whole_is_everything() -> None:
    checks = planned("a", "b", "a")
    assert share_of(checks, WHOLE) == checks


@pytest.mark.parametrize("suite", suites())
@pytest.mark.parametrize("count", [2, 5])
def test_shards_of_a_suite_are_all_of_it_once(suite: str, count: int) -> None:
    checks = collect(suite)
    dealt = list(itertools.chain.from_iterable(shards(checks, count)))
    assert sorted(dealt) == sorted(check.check for check in checks)


@pytest.mark.parametrize("count", [2, 5])
def test_checks_of_a_requirement_are_in_one_shard(count: int) -> None:
    checks = collect("agent_endpoint")
    cut = [
        {id_ for check in share_of(checks, Shard(n, count)) for id_ in check.requirements} for n in range(1, count + 1)
    ]
    assert all(one.isdisjoint(other) for one, other in itertools.combinations(cut, 2))


def test_shards_are_of_about_one_size() -> None:
    sizes = [len(shard) for shard in shards(collect("agent_endpoint"), 5)]
    assert max(sizes) - min(sizes) <= 2


def test_requirements_that_a_check_claims_together_are_in_one_shard() -> None:
    assert shards(planned("a", "b", "ab", "c", "cd", "d"), 2) == [["c0", "c1", "c2"], ["c3", "c4", "c5"]]


def test_requirements_that_are_bound_by_others_are_in_one_shard() -> None:
    assert shards(planned("a", "b", "c", "x", "cb", "ba"), 2) == [["c0", "c1", "c2", "c4", "c5"], ["c3"]]


def test_largest_groups_are_dealt_first() -> None:
    assert shards(planned("a", "b", "c", "c", "c"), 2) == [["c2", "c3", "c4"], ["c0", "c1"]]


def test_more_shards_than_groups_are_refused_with_how_many_there_may_be() -> None:
    with pytest.raises(UsageError, match="cannot be split into 3 shards") as caught:
        share_of(planned("a", "b", "ab", "c"), Shard(1, 3))
    assert "2" in caught.value.hint
