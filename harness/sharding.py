"""Which checks are in which shard: the same on every machine that runs the same version."""

from __future__ import annotations

from collections.abc import Sequence

from harness.cell import Shard
from harness.errors import UsageError
from harness.results import Planned


def share_of(planned: Sequence[Planned], shard: Shard) -> tuple[Planned, ...]:
    """The checks of `shard`, in their order.

    All checks of a requirement are in one shard, and so are requirements that a check claims together. The largest of
    these groups are dealt first, each to the shard that has the fewest checks by then. Raises UsageError when there
    are fewer groups than shards: one of them would measure nothing.
    """
    groups = _groups(planned)
    if shard.count > len(groups):
        raise UsageError(
            f"{len(planned)} checks cannot be split into {shard.count} shards: those of a requirement stay together",
            f"take no more than {len(groups)} shards",
        )
    load = [0] * shard.count
    mine: set[str] = set()
    for group in sorted(groups, key=len, reverse=True):
        lightest = load.index(min(load))
        load[lightest] += len(group)
        if lightest == shard.number - 1:
            mine.update(check.check for check in group)
    return tuple(check for check in planned if check.check in mine)


def _groups(planned: Sequence[Planned]) -> list[list[Planned]]:
    """The checks in groups that have no requirement in common, in the order of each group's first check."""
    leads: dict[str, str] = {}

    def lead(requirement: str) -> str:
        while (above := leads.setdefault(requirement, requirement)) != requirement:
            requirement = above
        return requirement

    for check in planned:
        first, *others = check.requirements
        for other in others:
            leads[lead(other)] = lead(first)
    groups: dict[str, list[Planned]] = {}
    for check in planned:
        groups.setdefault(lead(check.requirements[0]), []).append(check)
    return list(groups.values())
