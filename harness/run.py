"""A run: plan, launch, examine, check, and write it all down."""

from __future__ import annotations

import contextlib
import datetime
import functools
import io
import os
import secrets
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from importlib.metadata import version
from pathlib import Path
from typing import IO

import pytest

from harness import doctor, kilo_target
from harness.cell import WHOLE, Plan, Shard, Share
from harness.discovery import discovered
from harness.errors import HarnessError, TargetNotReady, TurnproofError, UsageError
from harness.far_end import OURS, FarEnd
from harness.interrupts import Held
from harness.kinds import kind_named
from harness.launch import launched
from harness.opencode import STAND_IN
from harness.parts import Part, Say, chained, describe, pace_of, part_behind
from harness.pytest_run import Selection, collect, isolated, session_arguments
from harness.recorder import Recorder
from harness.redaction import Redactor
from harness.reporting.names import remove_reports
from harness.reporting.visible import one_line
from harness.requirements import Requirement, catalogue
from harness.results import RESULTS, CheckResult, Footer, Header, Outcome, Planned, Results, Writer, read
from harness.sharding import share_of
from harness.subject import LiveSubject
from harness.suite_plugin import SuitePlugin
from harness.target import Target
from harness.target_digest import digest_of
from harness.variables import expect_set
from harness.waiver import Waiver
from harness.worker import WorkerSettings, WorkerSetup

_NUMBERS_PER_SHARD = 100_000_000
"""More exchanges than the workers of one shard can number, so that those of all shards fit into one file."""


@dataclass(frozen=True)
class Order:
    """What to run: the target, a suite, which of its checks, in how many workers, where results go.

    `opencode` is what stands behind the target: `stand-in`, `real` or a version. `requirements` leaves only the checks
    of these; None leaves all that match `expression`. `shuffle` seeds the order of the checks; None is their own.
    `attach` is the control address of what `turnproof up` holds, `far` what an opencode calls for its model. `shard`
    leaves only its share of the checks.
    """

    target: Target
    suite: str = "agent_endpoint"
    expression: str = ""
    strict: bool = False
    require_all: bool = False
    out: Path = Path("turnproof-report")
    workers: int = 0
    opencode: str = STAND_IN
    requirements: frozenset[str] | None = None
    shuffle: str | None = None
    attach: str | None = None
    shard: Shard = WHOLE
    far: FarEnd = OURS

    @property
    def first_number(self) -> int:
        """The number of the first exchange."""
        return 1 + (self.shard.number - 1) * _NUMBERS_PER_SHARD


@dataclass(frozen=True)
class Observer:
    """Is told how the run goes: the plan, each step of the doctor, each result; and before them the header."""

    planned: Callable[[int], None] = lambda _count: None
    step: Say = lambda _step, _detail: None
    done: Callable[[CheckResult], None] = lambda _result: None
    begun: Callable[[Header], None] = lambda _header: None


def run(order: Order, observer: Observer) -> tuple[Results, TurnproofError | None]:
    """Make the run; what its results file says, and the error that ended it early, if one did.

    Raises TurnproofError for what is wrong before there is a results file.
    """
    everything = _planned(order)
    planned = share_of(everything, order.shard)
    kind = kind_named(order.target.kind)
    if order.suite not in kind.suites:
        hint = f"add --suite {kind.suite}, or name another target"
        raise UsageError(f"suite {order.suite} is not for a target of kind {order.target.kind}", hint)
    if order.workers and order.target.url is not None:
        raise UsageError("-n needs a target that each worker can start", "leave -n out for a target given by URL")
    expect_set(order.target, os.environ)
    observer.step("judging", _judged(order))
    part = chained(part_behind(order.target, order.opencode, observer.step, order.attach), order.far)
    order = replace(order, target=discovered(order.target))
    order = replace(order, target=replace(order.target, pace=pace_of(order.target, part)))
    observer.planned(len(planned))
    header = _header(order, everything, planned, part)
    with Held() as held, _results_file(order.out) as stream:
        writer = Writer(stream, Redactor())
        writer.write(header.to_json())
        observer.begun(header)
        recorder = Recorder(writer, observer.done)
        measure = functools.partial(_measure, order, header, part, recorder, observer)
        outcome, error = _outcome(measure, recorder, len(planned), held, order.workers > 0)
        footer = Footer(outcome, len(planned), recorder.count, _now(), str(error) if error else None)
        writer.write(footer.to_json())
    return read(order.out / RESULTS), error


def _judged(order: Order) -> str:
    """What is judged, and by which suite where that is not the one of its kind."""
    own = kind_named(order.target.kind).suite
    name = one_line(order.target.name)
    return name if order.suite == own else f"{name}, by the suite {order.suite}"


def _planned(order: Order) -> tuple[Planned, ...]:
    checks, wanted = collect(order.suite, order.expression), order.requirements
    return tuple(check for check in checks if wanted is None or not wanted.isdisjoint(check.requirements))


def _outcome(
    measure: Callable[[], None], recorder: Recorder, planned: int, held: Held, workers: bool
) -> tuple[Outcome, TurnproofError | None]:
    try:
        with held.raising():
            measure()
    except KeyboardInterrupt:
        if recorder.not_ready is None:  # which makes pytest stop in the same way
            return "interrupted", None
    except TargetNotReady as error:
        return "not-ready", error
    except TurnproofError as error:
        return "error", error
    if (lost := recorder.not_ready) is not None:
        return "not-ready", _of_a_worker(lost) if workers else lost
    if recorder.broken:
        return "error", HarnessError("\n".join(recorder.broken))
    if recorder.count != planned:
        return "error", HarnessError(f"{planned} checks were planned, {recorder.count} were made")
    return "finished", None


def _of_a_worker(lost: TargetNotReady) -> TargetNotReady:
    hint = "; ".join(filter(None, (lost.hint, "try without -n")))
    return TargetNotReady(f"a worker's target: {lost.step}", lost.message, hint, lost.log)


def _measure(order: Order, header: Header, part: Part | None, recorder: Recorder, observer: Observer) -> None:
    """Launch the target, examine it, and make the checks: on it, or in workers that each launch their own."""
    capabilities = {requirement.id: requirement.capability for requirement in header.requirements}
    checks = tuple(planned.check for planned in header.planned)
    live = order.suite == kind_named(order.target.kind).live  # whose checks are round trips themselves

    def examine() -> None:
        if not live:
            with launched(order.target, part, observer.step) as launch:
                doctor.round_trip(launch, header.seed, observer.step)

    if order.workers:
        settings = WorkerSettings(
            order.target, part, header.seed, capabilities, frozenset(checks), order.shuffle, order.first_number
        )
        setup = WorkerSetup(settings, examine)
        try:
            _run_pytest(session_arguments(checks, order.workers), [recorder, setup])
        finally:
            if setup.failed is not None:  # pytest then ends as one that found no tests
                raise setup.failed
        return
    with launched(order.target, part, observer.step, order.first_number) as launch:
        if not live:
            doctor.round_trip(launch, header.seed, observer.step)
        suite = SuitePlugin(LiveSubject(launch, header.seed), capabilities)
        _run_pytest(session_arguments(checks), [recorder, Selection(checks, order.shuffle), suite])


def _run_pytest(arguments: list[str], plugins: list[object]) -> None:
    """Run pytest; an interrupted one raises KeyboardInterrupt here too."""
    said = io.StringIO()
    with isolated(), contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
        code = pytest.main(arguments, plugins=plugins)
    if code == pytest.ExitCode.INTERRUPTED:
        raise KeyboardInterrupt
    if code not in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED):
        raise HarnessError(f"pytest ended with {code!r}: {said.getvalue()[-4000:]}")


def _header(order: Order, everything: tuple[Planned, ...], planned: tuple[Planned, ...], part: Part | None) -> Header:
    return Header(
        run=str(uuid.uuid4()),
        seed=secrets.token_hex(16),
        started=_now(),
        harness=version("turnproof"),
        suite=order.suite,
        target=order.target.facts,
        strict=order.strict,
        require_all=order.require_all,
        planned=planned,
        requirements=_claimed(order, planned),
        share=Share(digest_of(order.target), order.shard, None if order.shard.whole else _plan(order, everything)),
        parts=(*(describe(part) if part else ()), *kilo_target.described(order.target)),
        waivers=_waivers(order),
        whole=len(collect(order.suite)),
    )


def _waivers(order: Order) -> tuple[Waiver, ...]:
    """The target's waivers, each with the checks of the whole suite that it names."""
    checks = collect(order.suite) if order.target.waivers else ()
    covering = ((w, [c.check for c in checks if w.names(c.check, c.requirements)]) for w in order.target.waivers)
    return tuple(replace(waiver, covers=tuple(covers)) for waiver, covers in covering)


def _claimed(order: Order, planned: tuple[Planned, ...]) -> tuple[Requirement, ...]:
    claimed = {id_ for check in planned for id_ in check.requirements}
    return tuple(requirement for requirement in catalogue(order.suite) if requirement.id in claimed)


def _plan(order: Order, everything: tuple[Planned, ...]) -> Plan:
    requirements = _claimed(order, everything)
    return Plan(tuple(check.check for check in everything), tuple(requirement.id for requirement in requirements))


@contextlib.contextmanager
def _results_file(out: Path) -> Iterator[IO[str]]:
    try:
        out.mkdir(parents=True, exist_ok=True)
        remove_reports(out)
        stream = (out / RESULTS).open("w", encoding="utf-8", newline="\n")
    except OSError as error:
        raise UsageError(f"{out}: cannot be written: {error.strerror}", "choose another folder with --out") from error
    try:
        yield stream
    finally:
        with contextlib.suppress(OSError):  # what could not be written was told when it was to be
            stream.close()


def _now() -> str:
    return datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
