"""Verdicts: from the results of a run to a verdict for each requirement and the exit code.

The exit codes are documented in the README; what is here never looks at anything but the results.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

from harness.errors import HarnessError, TargetNotReady, UsageError
from harness.requirements import Level, Requirement
from harness.results import CheckResult, Header, Results, Verdict
from harness.waiver import STALE, Standing, Waiver, objection, standing, waiving

Status = Verdict | Literal["waived", "not-run"]
"""A verdict, or `waived`: failed as a waiver in force says; or `not-run`: planned, and without a result."""

STATUSES: tuple[Status, ...] = (
    "error",
    "fail",
    "inconclusive",
    "not-run",
    "waived",
    "pass",
    "not-measured",
    "not-applicable",
)
"""All statuses in the order in which they decide: a requirement has the first that one of its checks has."""

CONFORMS = 0
DOES_NOT_CONFORM = 1
NOT_READY = TargetNotReady.exit_code
HARNESS_ERROR = HarnessError.exit_code
STALE_WAIVER = 5
NOTHING_MEASURED = 6

_MEASURED: frozenset[Status] = frozenset({"pass", "fail", "waived"})
UNFINISHED = 130


@dataclass(frozen=True)
class Checked:
    """A check with the requirements it claims; `result` is None when it was planned and did not run.

    `waivers` are those that waive its failure, `objection` says why others that name it do not.
    """

    check: str
    title: str
    requirements: tuple[Requirement, ...]
    result: CheckResult | None
    waivers: tuple[Waiver, ...] = ()
    objection: str = ""

    @property
    def status(self) -> Status:
        """The check's verdict, or `waived`, or `not-run`."""
        if self.result is None:
            return "not-run"
        return "waived" if self.waivers else self.result.verdict


@dataclass(frozen=True)
class Row:
    """A requirement with its verdict and all checks that claim it, in the order in which they were planned."""

    requirement: Requirement
    verdict: Status
    checks: tuple[Checked, ...]

    @property
    def passed(self) -> int:
        """How many of the checks passed."""
        return sum(checked.status == "pass" for checked in self.checks)

    @property
    def measured(self) -> bool:
        """Whether the target was asked and its answer judged."""
        return self.verdict in ("pass", "fail", "waived")

    @property
    def unmeasured(self) -> tuple[Checked, ...]:
        """The checks that were not measured, also when others were and passed."""
        return tuple(checked for checked in self.checks if checked.status == "not-measured")


@dataclass(frozen=True)
class Musts:
    """MUST requirements, counted: those that apply; of them the measured, the passed, those in part, and the waived."""

    applicable: int
    measured: int
    passed: int
    in_part: int
    waived: int = 0


@dataclass(frozen=True)
class Summary:
    """What a run says: `rows` in the order of the catalogue, `checks` in the order in which they were planned.

    `waivers` are those of the target's file, in its order, each with what it came to.
    """

    results: Results
    rows: tuple[Row, ...]
    checks: tuple[Checked, ...]
    waivers: tuple[tuple[Waiver, Standing], ...] = ()

    @property
    def finished(self) -> bool:
        """Whether every planned check has a result and the run said that it was through."""
        return self.results.finished and all(checked.result for checked in self.checks)

    @property
    def made(self) -> int:
        """How many checks have a result."""
        return sum(checked.result is not None for checked in self.checks)

    @property
    def verdicts(self) -> Mapping[Status, int]:
        """How many requirements have each verdict; those that none has are there with 0."""
        counts = Counter(row.verdict for row in self.rows)
        return {status: counts[status] for status in STATUSES}

    def applicable(self, level: Level) -> tuple[Row, ...]:
        """The rows of the requirements of `level` that bind the target."""
        return tuple(r for r in self.rows if r.requirement.level == level and r.verdict != "not-applicable")

    @property
    def musts(self) -> Musts:
        """The MUST requirements, counted."""
        rows = self.applicable("MUST")
        return Musts(
            applicable=len(rows),
            measured=sum(row.measured for row in rows),
            passed=sum(row.verdict == "pass" for row in rows),
            in_part=sum(row.measured and bool(row.unmeasured) for row in rows),
            waived=sum(row.verdict == "waived" for row in rows),
        )

    @property
    def stale(self) -> tuple[Waiver, ...]:
        """The waivers that name something unknown, or nothing that still fails."""
        return tuple(waiver for waiver, stands in self.waivers if stands in STALE)

    @cached_property
    def exit_code(self) -> int:
        """The run's exit code: the first that applies in the order 130, 4, 3, 6, 1, 5, 0.

        6 is for a run in which no check was measured, and for one without a failure that counts and without a pass.
        """
        outcome = self.results.footer.outcome if self.results.footer else None
        if outcome in (None, "interrupted") or (outcome == "finished" and not self.finished):
            return UNFINISHED
        if outcome == "error" or any(checked.status == "error" for checked in self.checks):
            return HARNESS_ERROR
        if outcome == "not-ready":
            return NOT_READY
        told = {checked.status for checked in self.checks}
        fails = any(map(self.row_decides, self.rows)) and not told.isdisjoint(_MEASURED)
        if "pass" not in told and not fails:
            return NOTHING_MEASURED
        if fails:
            return DOES_NOT_CONFORM
        return STALE_WAIVER if self.stale else CONFORMS

    def row_decides(self, row: Row) -> bool:
        """Whether the requirement's verdict counts against conformance in this run."""
        return self._binds(row.requirement) and (
            self._against(row.verdict) or (self.results.header.require_all and bool(row.unmeasured))
        )

    def check_decides(self, checked: Checked) -> bool:
        """Whether the check's verdict counts against conformance in this run."""
        return self._against(checked.status) and any(map(self._binds, checked.requirements))

    def _binds(self, requirement: Requirement) -> bool:
        return requirement.level == "MUST" or (requirement.level == "SHOULD" and self.results.header.strict)

    def _against(self, status: Status) -> bool:
        return status in ("error", "fail", "inconclusive") or (
            self.results.header.require_all and status in ("not-measured", "not-run")
        )


def summarise(results: Results) -> Summary:
    """The verdicts of a run, finished or not.

    Raises UsageError when a check claims a requirement that the header does not list: its verdict would be lost.
    """
    checks = tuple(_checks(results))
    claimed: dict[str, list[Checked]] = {requirement.id: [] for requirement in results.header.requirements}
    for checked in checks:
        for requirement in checked.requirements:
            claimed[requirement.id].append(checked)
    rows = (_row(requirement, tuple(claimed[requirement.id]), results) for requirement in results.header.requirements)
    return Summary(results, tuple(rows), checks, _waivers(results, checks))


def _checks(results: Results) -> Iterator[Checked]:
    known = {requirement.id: requirement for requirement in results.header.requirements}
    planned = {entry.check: entry for entry in results.header.planned}
    made: dict[str, list[CheckResult | None]] = {}
    for result in results.checks:
        made.setdefault(result.check, []).append(result)
    for check in dict.fromkeys((*planned, *made)):
        plan = planned.get(check)
        for found in made.get(check, [None]):
            ids = dict.fromkeys((*(plan.requirements if plan else ()), *(found.requirements if found else ())))
            yield _checked(results, Checked(check, plan.title if plan else check, _known(known, check, ids), found))


def status_of(result: CheckResult, header: Header | None) -> Status:
    """The status of a check that has just been made in the run that `header` began."""
    return "waived" if header is not None and waiving(header.waivers, result, day_of(header)) else result.verdict


def _checked(results: Results, checked: Checked) -> Checked:
    """The check with what the waivers say of it."""
    waivers, day = results.header.waivers, day_of(results.header)
    if checked.result is None or not waivers:
        return checked
    by = waiving(waivers, checked.result, day)
    return replace(checked, waivers=by, objection="" if by else objection(waivers, checked.result, day))


def _waivers(results: Results, checks: tuple[Checked, ...]) -> tuple[tuple[Waiver, Standing], ...]:
    ended = [(checked.result, checked.waivers) for checked in checks if checked.result]
    return tuple((waiver, standing(waiver, ended, day_of(results.header))) for waiver in results.header.waivers)


def day_of(header: Header) -> str:
    """The day on which the run began, as the results file writes it: in UTC."""
    return header.started[:10]


def _known(known: Mapping[str, Requirement], check: str, ids: Iterable[str]) -> tuple[Requirement, ...]:
    unknown = [id_ for id_ in ids if id_ not in known]
    if unknown:
        raise UsageError(
            f"the check {check} claims {', '.join(unknown)}, which the run's catalogue does not list",
            "the results were written by another version of turnproof, or were changed",
        )
    return tuple(known[id_] for id_ in ids)


def _row(requirement: Requirement, checks: tuple[Checked, ...], results: Results) -> Row:
    declared = results.header.target.capabilities
    undeclared = requirement.capability is not None and requirement.capability not in declared
    unchecked: Status = "not-applicable" if undeclared else "not-run"
    statuses = {checked.status for checked in checks} or {unchecked}
    return Row(requirement, next(status for status in STATUSES if status in statuses), checks)
