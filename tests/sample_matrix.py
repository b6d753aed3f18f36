"""Builds matrices for tests: say what each cell comes to."""

from __future__ import annotations

from harness.diff import compare
from harness.matrix.outcome import Outcome
from harness.matrix.plan import Comparison, Matrix
from harness.matrix.report import Report, Section
from harness.matrix.steps import Step
from harness.verdict import Summary, summarise
from tests.sample_results import HOSTILE, exchange, finding, hostile_summary, result, results

VERSIONS = ("1.0.0", "1.1.0", "1.2.0", "1.3.0")
KILO = Comparison("kilo", "kilo_cli", VERSIONS)
LONG = exchange(9, chunks=[b'{"long":"' + b"x" * 60 + b'"}'], status=200)


def run(version: str, *verdicts: str, otherwise: bool = False) -> Summary:
    """A run of two requirements; `otherwise` is how it comes out when it is held to the version before it."""
    differing = finding(7, expected="1 call", came="2 calls")
    checks = [
        result(f"c{number}", (f"KC-A-{number}",), verdict, finding(7) if verdict == "fail" else None)  # type: ignore[arg-type]
        for number, verdict in enumerate(verdicts, 1)
    ]
    if otherwise:
        checks[0] = result("c1", ("KC-A-1",), "fail", differing)
    parts = ({"name": "kilo", "version": version, "sha256": "d0acbbcd276c86201383cf1357a2cec1"},)
    return summarise(
        results(checks, exchanges=[exchange(7), LONG], run=f"run of {version}", suite="kilo_cli", parts=parts)
    )


def mixed_matrix() -> Report:
    """Four versions: one that conforms, one that does otherwise, one that could not be run, one that fails."""
    tasks = KILO.tasks
    first, second, last = run("1.0.0", "pass", "pass"), run("1.1.0", "pass", "pass"), run("1.3.0", "pass", "fail")
    outcomes = (
        Outcome(tasks[0], 0, first, "", 12.4, "a"),
        Outcome(tasks[1], 0, second, "", 13.0, "a"),
        Outcome(tasks[2], 2, None, "the registry has no kilo@1.2.0\nIt has 1.3.0.", 0.0, "a"),
        Outcome(tasks[3], 1, last, "", 700.0, "b"),
    )
    steps = (
        Step(
            outcomes[0],
            outcomes[1],
            compare(first, second),
            compare(second, run("1.1.0", "pass", "pass", otherwise=True)),
        ),
        Step(outcomes[1], outcomes[3], compare(second, last), None),
    )
    return Report(Matrix("Releases", (KILO,)), (Section(KILO, outcomes, steps),))


def hostile_matrix() -> Report:
    """A matrix where everything that comes from outside is hostile."""
    comparison = Comparison("opencode", "agent_endpoint", ("1.0.0", "2.0.0"), HOSTILE, HOSTILE)
    old, new = comparison.tasks
    bad = hostile_summary()
    good = summarise(results([result(one.check, tuple(r.id for r in one.requirements), "pass") for one in bad.checks]))
    outcomes = Outcome(old, 1, bad, ""), Outcome(new, 4, None, HOSTILE)
    step = Step(outcomes[0], outcomes[0], compare(good, bad), compare(good, bad))
    return Report(Matrix(HOSTILE, (comparison,)), (Section(comparison, outcomes, (step,)),))


def matrix_of(*cells: Summary | str) -> Report:
    """A matrix of one cell for each; a text is the reason why it could not be run."""
    versions = tuple(f"{number}.0.0" for number in range(len(cells)))
    comparison = Comparison("kilo", "kilo_cli", versions)
    outcomes = tuple(
        Outcome(task, 4, None, cell) if isinstance(cell, str) else Outcome(task, cell.exit_code, cell, "")
        for task, cell in zip(comparison.tasks, cells, strict=True)
    )
    return Report(Matrix("m", (comparison,)), (Section(comparison, outcomes, ()),))
