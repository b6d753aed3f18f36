"""Waivers: known failures of a target, each with who answers for it, why, until when, and what exactly it is.

What a waiver comes to in a run is a pure function of the results: the header holds the waivers, each failure its
signature, and the day is that on which the run began (UTC).
"""

from __future__ import annotations

import datetime
from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from harness.results import CheckResult

Standing = Literal["in-force", "ran-out", "different", "not-failing", "unknown", "unjudged"]
"""What a waiver came to in a run.

`in-force`: it waives a failure. `ran-out`: what it names still fails, and its time is over. `different`: what it names
fails in another way. `not-failing`: nothing that it names fails any more. `unknown`: it names no check that there is.
`unjudged`: not all that it names was measured in this run.
"""

SOON = 14
"""So many days before its end it is told that a waiver will run out."""

STALE: tuple[Standing, ...] = ("not-failing", "unknown")
"""A waiver that stands so is to be removed or mended."""


@dataclass(frozen=True)
class Waiver:
    """A failure of `requirement` with this signature is known until the end of the day `until` (`2026-12-31`).

    `check` is the id of a check, without its parameters for all of them; None means every check of the requirement.
    `covers` are the ids of the suite's checks that it names; empty in a target file, which knows no suite. `line` is
    where it begins in the target file, None where that is not known.
    """

    requirement: str
    owner: str
    reason: str
    link: str
    until: str
    signature: str
    check: str | None = None
    covers: tuple[str, ...] = ()
    line: int | None = None

    @property
    def what(self) -> str:
        """What it is of: a requirement, or one check of it."""
        return f"{self.requirement}, {self.check}" if self.check else self.requirement

    @property
    def where(self) -> str:
        """What it is of, and where it is."""
        return self.what if self.line is None else f"{self.what} (line {self.line} of the target file)"

    def names(self, check: str, requirements: Collection[str]) -> bool:
        """Whether it names a check of that id, which claims these requirements."""
        return self.requirement in requirements and self.check in (None, check, check.partition("[")[0])

    def to_json(self) -> dict[str, Any]:
        """The waiver as a JSON object; a line that is not known is left out."""
        told = {**asdict(self), "covers": list(self.covers)}
        return told if self.line is not None else {name: value for name, value in told.items() if name != "line"}

    @staticmethod
    def from_json(value: dict[str, Any]) -> Waiver:
        """The inverse of `to_json`; raises TypeError when a field is missing or unknown, ValueError for no date."""
        datetime.date.fromisoformat(value["until"])
        return Waiver(**{**value, "covers": tuple(value["covers"])})


def waiving(waivers: Sequence[Waiver], result: CheckResult, day: str) -> tuple[Waiver, ...]:
    """Those that waive a check's failure, one for each requirement that it claims; none when one of these lacks one."""
    if result.verdict != "fail":
        return ()
    fitting = [w for w in _of(waivers, result) if w.signature == result.signature and day <= w.until]
    found = [next((w for w in fitting if w.requirement == id_), None) for id_ in result.requirements]
    return tuple(w for w in found if w is not None) if None not in found else ()


def objection(waivers: Sequence[Waiver], result: CheckResult, day: str) -> str:
    """Why the waivers that name a check do not waive how it ended; empty when none does, or it needs none."""
    said = [_objection(waiver, result, day) for waiver in _of(waivers, result)]
    return "; ".join(dict.fromkeys(filter(None, said)))


def standing(waiver: Waiver, ended: Sequence[tuple[CheckResult, Collection[Waiver]]], day: str) -> Standing:
    """What a waiver came to. `ended` are the results of the run, each with the waivers that waive it."""
    if not waiver.covers:
        return "unknown"
    concerned = [(result, by) for result, by in ended if result.check in waiver.covers]
    if any(waiver in by for _, by in concerned):
        return "in-force"
    failing = [result for result, by in concerned if result.verdict == "fail" and not by]
    if failing:
        return (
            "ran-out" if any(waiver.signature == r.signature and day > waiver.until for r in failing) else "different"
        )
    settled = {result.check for result, _ in concerned}
    if any(result.verdict not in ("pass", "fail", "not-applicable") for result, _ in concerned):
        return "unjudged"
    return "not-failing" if settled.issuperset(waiver.covers) else "unjudged"


def explained(waiver: Waiver, stands: Standing, day: str) -> str:
    """What to do about a waiver, in one sentence; empty when there is nothing to do."""
    what = waiver.where
    told: dict[Standing, str] = {
        "ran-out": f"the waiver of {what} ran out on {waiver.until}: mend what fails, or have {waiver.owner} extend it",
        "different": f"the waiver of {what} is for another failure than the one that came",
        "not-failing": f"the waiver of {what} names what no longer fails: remove it",
        "unknown": f"the waiver of {what} names no check of the suite: mend it, or remove it",
    }
    if stands == "in-force" and days_left(waiver, day) <= SOON:
        days = {0: "today", 1: "tomorrow"}.get(days_left(waiver, day), f"in {days_left(waiver, day)} days")
        return f"the waiver of {what} runs out {days}: mend what fails, or have {waiver.owner} extend it"
    return told.get(stands, "")


def days_left(waiver: Waiver, day: str) -> int:
    """How many days after `day` the last one of the waiver is."""
    return (datetime.date.fromisoformat(waiver.until) - datetime.date.fromisoformat(day)).days


def _of(waivers: Sequence[Waiver], result: CheckResult) -> list[Waiver]:
    return [waiver for waiver in waivers if waiver.names(result.check, result.requirements)]


def _objection(waiver: Waiver, result: CheckResult, day: str) -> str:
    if result.verdict == "inconclusive":
        return f"the waiver of {waiver.owner} is for a failure; what is inconclusive cannot be waived"
    if result.verdict != "fail":
        return ""
    if waiver.signature != result.signature:
        return (
            f"the waiver of {waiver.owner} is for another failure, {waiver.signature}; this one is {result.signature}"
        )
    return f"the waiver of {waiver.owner} ran out on {waiver.until}" if day > waiver.until else ""
