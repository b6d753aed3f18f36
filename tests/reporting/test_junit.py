from __future__ import annotations

from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import junitparser
import pytest
import xmlschema
from syrupy.assertion import SnapshotAssertion

from harness.reporting.junit import junit
from harness.results import Outcome
from harness.verdict import STATUSES, Status, Summary, summarise
from tests.sample_results import (
    HOSTILE,
    SIGNATURE,
    exchange,
    finding,
    hostile_summary,
    mixed_summary,
    requirement,
    result,
    results,
    waiver,
    with_verdicts,
)

JENKINS = xmlschema.XMLSchema(Path(__file__).parent / "schemas" / "junit-10.xsd")


def _root(summary: Summary) -> ET.Element:
    return ET.fromstring(junit(summary).encode("utf-8"))


def _case(summary: Summary, number: int = 0) -> ET.Element:
    return list(_root(summary).iter("testcase"))[number]


def _child(summary: Summary, tag: str, number: int = 0) -> ET.Element:
    found = _case(summary, number).find(tag)
    assert found is not None
    return found


def _tags(summary: Summary) -> list[str]:
    return [child.tag for case in _root(summary).iter("testcase") for child in case if child.tag != "properties"]


def test_document_of_a_whole_run(snapshot: SnapshotAssertion) -> None:
    assert junit(mixed_summary()) == snapshot


@pytest.mark.parametrize(
    "summary",
    [mixed_summary(), hostile_summary(), summarise(results()), with_verdicts(*STATUSES, outcome=None)],
    ids=["mixed", "hostile", "empty", "every status"],
)
def test_document_is_valid_for_jenkins_but_for_properties_of_cases(summary: Summary) -> None:
    root = _root(summary)
    for case in root.iter("testcase"):
        for properties in case.findall("properties"):
            case.remove(properties)
    assert [error.reason for error in JENKINS.iter_errors(root)] == []


def test_another_reader_counts_the_same() -> None:
    read = junitparser.JUnitXml.fromstring(junit(with_verdicts(*STATUSES, outcome=None)).encode("utf-8"))
    written = (read.tests, read.failures, read.errors, sum(suite.skipped for suite in read))
    read.update_statistics()  # type: ignore[no-untyped-call]
    assert (read.tests, read.failures, read.errors, read.skipped) == written == (9, 2, 3, 3)


def test_another_reader_finds_the_requirements() -> None:
    read = junitparser.JUnitXml.fromstring(junit(with_verdicts("pass", "fail")).encode("utf-8"))
    case = [case for suite in read for case in suite][1]
    found = {entry.name: entry.value for entry in case.child(junitparser.Properties)}  # type: ignore[no-untyped-call]
    assert found["requirements"] == "AE-GROUP-2"
    assert [type(outcome) for outcome in case.result] == [junitparser.Failure]


def test_suites_are_the_requirement_groups() -> None:
    checks = [result("a", ("AE-AUTH-1",), "pass"), result("b", ("AE-TURN-1",), "pass")]
    assert [suite.get("name") for suite in _root(summarise(results(checks)))] == [
        "agent_endpoint.AUTH",
        "agent_endpoint.TURN",
    ]


def test_check_of_two_groups_is_one_case() -> None:
    checks = [result("a", ("AE-AUTH-1", "AE-TURN-1"), "pass")]
    assert _root(summarise(results(checks))).get("tests") == "1"


def test_case_has_the_check_title_group_and_time() -> None:
    assert _case(with_verdicts("pass")).attrib == {
        "classname": "agent_endpoint.GROUP",
        "name": "title of check AE-GROUP-1",
        "time": "0.250",
    }


def test_cases_of_one_title_are_told_apart() -> None:
    sample = results([result("a", ("AE-A-1",), "pass"), result("b", ("AE-A-1",), "pass")])
    same = tuple(type(planned)(planned.check, planned.requirements, "t") for planned in sample.header.planned)
    header = type(sample.header)(**{**vars(sample.header), "planned": same})
    summary = summarise(type(sample)(header, sample.checks, footer=sample.footer))
    assert [case.get("name") for case in _root(summary).iter("testcase")] == ["t [a]", "t [b]"]


def test_properties_name_requirements_and_levels() -> None:
    found = {entry.get("name"): entry.get("value") for entry in _case(with_verdicts("pass")).iter("property")}
    assert found == {"check": "check AE-GROUP-1", "requirements": "AE-GROUP-1", "levels": "MUST", "verdict": "pass"}


@pytest.mark.parametrize(
    ("status", "tag"),
    [
        ("pass", None),
        ("fail", "failure"),
        ("inconclusive", "failure"),
        ("error", "error"),
        ("not-measured", "skipped"),
        ("not-applicable", "skipped"),
        ("not-run", "error"),
    ],
)
def test_verdict_has_its_element(status: Status, tag: str | None) -> None:
    case = _case(with_verdicts(status))
    assert [(child.tag, child.get("type")) for child in case if child.tag != "properties"] == (
        [(tag, status)] if tag else []
    )


def test_failure_tells_expected_came_mend_and_exchange() -> None:
    shown = result("a", ("AE-A-1",), "fail", finding(7))
    text = _child(summarise(results([shown], exchanges=[exchange(7)])), "failure").text or ""
    assert text.split("\n")[:6] == [
        "expected: status 401",
        "came:     status 404",
        "mend:     Check the key before the model.",
        "",
        "the exchange that shows it, #7:",
        "#7 turnproof -> target",
    ]


def test_failure_message_names_the_requirement() -> None:
    assert _child(with_verdicts("fail"), "failure").get("message") == "AE-GROUP-1: status 404"


def test_skipped_message_says_why() -> None:
    assert _child(with_verdicts("not-measured"), "skipped").get("message") == "not-measured: because"


@pytest.mark.parametrize(("strict", "tag"), [(True, "failure"), (False, "skipped")])
def test_failing_should_is_a_failure_only_when_it_decides(strict: bool, tag: str) -> None:
    assert _child(with_verdicts("fail", level="SHOULD", strict=strict), tag).get("type") == "fail"


def test_failing_check_that_does_not_decide_keeps_its_details() -> None:
    summary = with_verdicts("fail", level="MAY")
    assert (_child(summary, "system-out").text or "").startswith("expected: status 401")


def test_unmeasured_check_is_a_failure_when_all_are_required() -> None:
    summary = with_verdicts("pass", "not-measured", require_all=True)
    assert _child(summary, "failure", 1).get("type") == "not-measured"


@pytest.mark.parametrize(("require_all", "tag"), [(True, "failure"), (False, "skipped")])
def test_requirement_without_a_check_is_a_case(require_all: bool, tag: str) -> None:
    rows = [requirement("AE-A-1"), requirement("AE-A-2")]
    summary = summarise(results([result("a", ("AE-A-1",), "pass")], rows, require_all=require_all))
    assert _child(summary, tag, 1).get("type") == "not-run"


@pytest.mark.parametrize("outcome", [None, "interrupted", "not-ready", "error", "finished"])
def test_run_that_cannot_be_judged_is_never_green(outcome: Outcome | None) -> None:
    assert _root(summarise(results(outcome=outcome))).get("errors") == "1"


@pytest.mark.parametrize("require_all", [True, False])
@pytest.mark.parametrize(
    "verdicts",
    [("pass",), ("pass", "fail"), ("pass", "not-measured"), ("not-measured",), ("pass", "not-run"), ("fail",), ()],
)
def test_junit_is_red_exactly_when_the_exit_code_is(verdicts: tuple[Status, ...], require_all: bool) -> None:
    summary = with_verdicts(*verdicts, require_all=require_all)
    assert bool({"failure", "error"} & set(_tags(summary))) == (summary.exit_code != 0)


def test_counts_are_those_of_the_cases() -> None:
    root = _root(with_verdicts("pass", "fail", "fail", "not-measured"))
    counted = {name: root.get(name) for name in ("tests", "failures", "errors", "time")}
    assert counted == {"tests": "4", "failures": "2", "errors": "0", "time": "1.000"}
    assert [suite.get("skipped") for suite in root] == ["1"]


def test_hostile_text_is_escaped_and_well_formed() -> None:
    text = _child(hostile_summary(), "failure").text or ""
    assert "[red]x[/red] `y` ``` | <b>&\\x00\\x1b[31m\\ud800\\u2028\\u202e\\r\n]]>" in text


def test_hostile_header_is_well_formed() -> None:
    changes: dict[str, Any] = {"suite": HOSTILE, "started": HOSTILE}
    assert _root(summarise(results([result("a", ("AE-A-1",), "pass")], **changes))).get("tests") == "1"


def test_huge_finding_is_bounded() -> None:
    huge = result("a", ("AE-A-1",), "fail", finding(1, came="x" * 1_000_000))
    summary = summarise(results([huge], exchanges=[exchange(1, chunks=[b"y" * 1_000_000])]))
    assert len(junit(summary)) < 20_000


def test_waived_failure_is_skipped_with_its_waiver() -> None:
    skipped = _child(with_verdicts("pass", "waived"), "skipped", 1)
    told = "waived until 2026-12-31 by Jo: the vendor has to mend it (https://example.org/1)"
    assert (skipped.get("type"), skipped.get("message")) == ("waived", told)
    assert "expected: status 401" in str(_child(with_verdicts("pass", "waived"), "system-out", 1).text)


def test_failure_has_its_signature_and_why_its_waiver_does_not_hold() -> None:
    summary = with_verdicts("pass", "fail", waivers=(waiver("AE-GROUP-2", until="2026-01-01"),))
    found = {entry.get("name"): entry.get("value") for entry in _case(summary, 1).iter("property")}
    assert found["signature"] == SIGNATURE
    assert "the waiver of Jo ran out on 2026-01-01" in str(_child(summary, "failure", 1).text)


def test_stale_waiver_is_a_failure_of_its_own() -> None:
    summary = with_verdicts("pass", waivers=(waiver("AE-GROUP-1"),))
    failure = _child(summary, "failure", 1)
    assert _case(summary, 1).get("classname") == "agent_endpoint.waivers"
    assert (failure.get("type"), failure.get("message")) == (
        "not-failing",
        "the waiver of AE-GROUP-1 names what no longer fails: remove it",
    )
    assert (_root(summary).get("tests"), _root(summary).get("errors")) == ("2", "0")
