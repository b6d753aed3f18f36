from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from harness.engine import Engine
from harness.errors import UsageError
from harness.exchange import Request
from harness.replay import replay
from harness.requirements import Requirement
from harness.results import Act, CheckResult, Planned, Results
from harness.run import Observer, Order, run
from harness.verdict import summarise
from tests.staging import KEY, answering, canned, serving, target_at

Record = Callable[..., Results]


@pytest.fixture
def record(engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Record:
    """Run checks against an endpoint; the record."""
    monkeypatch.setenv("CANNED_KEY", KEY)

    def record(expression: str, decide: Callable[[Request], tuple[int, Any]] = canned) -> Results:
        with serving(engine, answering(decide)) as url:
            return run(Order(target_at(url), expression=expression, out=tmp_path), Observer())[0]

    return record


def open_door(request: Request) -> tuple[int, Any]:
    """An endpoint that keeps no rule on keys."""
    return canned(replace(request, headers=(("authorization", f"Bearer {KEY}"),)))


def agreed(results: Results) -> list[bool]:
    return [check.agrees for check in replay(results)]


def test_passing_checks_are_confirmed_without_a_target(record: Record) -> None:
    results = record("auth and models")
    assert "pass" in {check.verdict for check in results.checks}
    assert agreed(results) == [True] * len(results.checks)


def test_failing_checks_are_confirmed_with_their_findings(record: Record) -> None:
    results = record("AE-AUTH-1 and (header or scheme)", open_door)
    assert {check.verdict for check in results.checks} == {"fail"}
    assert agreed(results) == [True] * len(results.checks)


def test_verdict_that_was_forged_is_not_confirmed(record: Record) -> None:
    results = record("AE-AUTH-1 and header", open_door)
    forged = tuple(replace(check, verdict="pass", finding=None) for check in results.checks)
    assert summarise(replace(results, checks=forged)).exit_code == 0
    assert agreed(replace(results, checks=forged)) == [False] * len(forged)


def test_finding_that_was_changed_is_not_confirmed(record: Record) -> None:
    results = record("AE-AUTH-1 and header", open_door)

    def milder(check: CheckResult) -> CheckResult:
        assert check.finding is not None
        return replace(check, finding=replace(check.finding, came="something harmless"))

    assert agreed(replace(results, checks=tuple(map(milder, results.checks)))) == [False] * len(results.checks)


def test_answer_that_was_changed_is_not_confirmed(record: Record) -> None:
    results = record("header and models")
    changed = {number: replace(exchange, status=200) for number, exchange in results.exchanges.items()}
    assert agreed(replace(results, exchanges=changed)) == [False]


def test_question_that_was_changed_is_not_confirmed(record: Record) -> None:
    results = record("header and models")

    def another(act: Act) -> Act:
        return replace(act, asked={**act.asked, "target": "/elsewhere"}) if isinstance(act.asked, dict) else act

    assert agreed(replace(results, acts=tuple(map(another, results.acts)))) == [False]


def test_record_that_lacks_acts_and_exchanges_is_not_confirmed(record: Record) -> None:
    results = record("header and models")
    assert agreed(replace(results, acts=())) == [False]
    assert agreed(replace(results, exchanges={})) == [False]


@pytest.mark.parametrize("change", [{"footer": None}, {"outcome": "interrupted"}, {"run": 0}])
def test_run_that_did_not_finish_cannot_be_replayed(record: Record, change: dict[str, Any]) -> None:
    results = record("header and models")
    assert results.footer is not None
    footer = None if "footer" in change else replace(results.footer, **change)
    with pytest.raises(UsageError, match="the run did not finish"):
        replay(replace(results, footer=footer))


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No replay depends on the folder it is made in."""
    monkeypatch.chdir(tmp_path)


def test_a_record_cannot_make_anything_run_but_checks_of_ours(record: Record, tmp_path: Path) -> None:
    results = record("good_key and header")
    evil = tmp_path / "test_evil.py"
    evil.write_text(f"open({str(tmp_path / 'ran')!r}, 'w').close()\ndef test_x(): pass\n")
    foreign = replace(results.header.planned[0], check=f"../../../../../../../..{evil}::test_x")
    forged = replace(results, header=replace(results.header, planned=(foreign, *results.header.planned[1:])))
    no_longer_planned = [False]
    assert agreed(forged) == [False] + [True] * (len(results.checks) - 1) + no_longer_planned
    assert not (tmp_path / "ran").exists()


def milder(requirement: Requirement) -> Requirement:
    return replace(requirement, level="MAY")


def restated(requirement: Requirement) -> Requirement:
    return replace(requirement, statement="It answers.")


def narrower(requirement: Requirement) -> Requirement:
    return replace(requirement, capability="mint")


@pytest.mark.parametrize("change", [milder, restated, narrower])
def test_a_requirement_that_was_rewritten_is_not_confirmed(
    record: Record, change: Callable[[Requirement], Requirement]
) -> None:
    results = record("AE-AUTH-1 and header", open_door)
    rows = tuple(map(change, results.header.requirements))
    assert not any(agreed(replace(results, header=replace(results.header, requirements=rows))))


def test_a_failure_that_was_moved_to_another_requirement_is_not_confirmed(record: Record) -> None:
    results = record("good_key or header", open_door)
    to = results.checks[0].requirements
    planned = tuple(replace(check, requirements=to) for check in results.header.planned)
    checks = tuple(replace(check, requirements=to) for check in results.checks)
    moved = {check.check for check in results.checks if check.requirements != to}
    forged = replace(results, header=replace(results.header, planned=planned), checks=checks)
    assert {check.check for check in replay(forged) if not check.agrees} == moved != set()


def test_a_title_that_was_changed_is_not_confirmed(record: Record) -> None:
    results = record("header and models")
    planned = tuple(Planned(check.check, check.requirements, "it works") for check in results.header.planned)
    (told,) = replay(replace(results, header=replace(results.header, planned=planned)))
    assert told.difference == "its title, or a requirement of it, is recorded otherwise than this version has it"


def test_a_failure_whose_signature_was_changed_is_not_confirmed(record: Record) -> None:
    """By its signature a waiver knows it."""
    results = record("header and models", open_door)
    (told,) = replay(replace(results, checks=tuple(replace(c, signature="0" * 16) for c in results.checks)))
    assert told.difference == "recorded with another signature"


def test_a_result_that_nobody_planned_is_not_confirmed(record: Record) -> None:
    results = record("header and models")
    made_up = replace(results.checks[0], check="agent_endpoint/test_auth.py::test_all_is_well")
    assert agreed(replace(results, checks=(*results.checks, made_up))) == [True, False]


def test_a_second_result_of_a_check_is_looked_at_too(record: Record) -> None:
    results = record("header and models")
    failed = replace(results.checks[0], verdict="fail")
    assert agreed(replace(results, checks=(failed, *results.checks))) == [False, True]
