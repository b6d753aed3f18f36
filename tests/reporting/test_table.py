from __future__ import annotations

import io
from dataclasses import replace

import pytest
from rich.console import Console
from syrupy.assertion import SnapshotAssertion

from harness.reporting.headline import headline
from harness.reporting.table import render
from harness.verdict import Summary, summarise
from tests.sample_results import (
    HOSTILE,
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


def _rendered(summary: Summary, width: int = 80, terminal: bool = False, encoding: str = "utf-8") -> str:
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding=encoding, newline="\n")
    console = Console(
        file=stream, width=width, force_terminal=terminal, color_system="truecolor" if terminal else None, _environ={}
    )
    render(summary, console)
    stream.flush()
    return raw.getvalue().decode(encoding)


def _failing() -> Summary:
    failed = result("f", ("AE-A-1",), "fail", finding(2))
    return summarise(results([failed, result("p", ("AE-B-1",), "pass")], exchanges=[exchange(2)]))


@pytest.mark.parametrize("width", [80, 120])
def test_view_of_a_whole_run(width: int, snapshot: SnapshotAssertion) -> None:
    assert _rendered(mixed_summary(), width) == snapshot


def test_failures_that_are_alike_are_told_once_with_the_names_of_all() -> None:
    checks = [result(name, ("AE-A-1",), "fail", finding(2)) for name in "fgh"]
    wrote = [replace(check, output="KeyError: 'x'\n") for check in checks]
    text = _rendered(summarise(results(wrote, exchanges=[exchange(2)])))
    assert text.count("Check the key before the model.") == 1
    assert text.count("KeyError") == 1
    assert "fail AE-A-1 (MUST): title of f\n" in text
    assert "\n  the same in 2 more: title of g; title of h\n" in text


def test_failures_are_in_the_order_of_the_requirements() -> None:
    rows = [requirement("AE-B-1"), requirement("AE-A-1")]
    checks = [result("f", ("AE-A-1",), "fail", finding()), result("g", ("AE-A-1", "AE-B-1"), "fail", finding())]
    text = _rendered(summarise(results(checks, rows)))
    assert text.index("title of g") < text.index("title of f")


def test_failures_with_another_mend_are_told_apart() -> None:
    other = replace(finding(2), mend="Do something else.")
    checks = [result("f", ("AE-A-1",), "fail", finding(2)), result("g", ("AE-A-1",), "fail", other)]
    text = _rendered(summarise(results(checks, exchanges=[exchange(2)])))
    assert "the same in" not in text
    assert "Do something else." in text


def test_checks_that_are_not_measured_for_one_reason_are_told_together() -> None:
    checks = [result(name, ("AE-A-1",), "not-measured", reason="nobody watches") for name in "fg"]
    text = _rendered(summarise(results([*checks, result("p", ("AE-B-1",), "pass")])))
    assert "not measured: AE-A-1 title of f; title of g: nobody watches\n" in text


def test_run_without_a_check_has_no_table() -> None:
    text = _rendered(summarise(results([], outcome="not-ready", error="it ended")))
    assert "requirement" not in text
    assert text.strip().startswith("sample: target not ready: it ended")


def test_after_ten_failures_the_exchanges_are_left_to_the_reports() -> None:
    checks = [result(f"f{n}", (f"AE-A-{n}",), "fail", replace(finding(2), expected=f"{n} things")) for n in range(13)]
    text = _rendered(summarise(results(checks, exchanges=[exchange(2)])))
    assert text.count("#2 turnproof -> target") == 10
    assert "12 things" in text
    assert "of 3 more failures the exchanges are in the reports" in text


def test_failures_that_decide_come_first() -> None:
    beside, decides = requirement("AE-A-1", "MAY"), requirement("AE-B-1", "MUST")
    checks = [result("f", ("AE-A-1",), "fail", finding()), result("g", ("AE-B-1",), "fail", finding())]
    text = _rendered(summarise(results(checks, [beside, decides])))
    assert text.index("fail AE-B-1") < text.index("fail AE-A-1")


def test_headline_comes_last() -> None:
    assert _rendered(_failing()).endswith(f"\n{headline(_failing())}\n")


def test_requirement_has_a_row() -> None:
    row = next(line for line in _rendered(_failing()).split("\n") if line.startswith(" AE-B-1") or "AE-B-1" in line)
    assert row.split() == ["AE-B-1", "MUST", "pass", "1/1", "The", "statement", "of", "AE-B-1."]


def test_failure_tells_expected_came_mend_and_exchange() -> None:
    text = _rendered(_failing())
    told = [line.strip() for line in text.partition("fail AE-A-1 (MUST): title of f\n")[2].split("\n")]
    assert [" ".join(line.split()) for line in told[:7]] == [
        "expected status 401",
        "came status 404",
        "mend Check the key before the model.",
        "",
        "the exchange that shows it, #2:",
        "#2 turnproof -> target",
        "-> POST /v1/chat/completions",
    ]


def test_unmeasured_checks_are_named() -> None:
    text = _rendered(with_verdicts("pass", "not-measured"))
    assert "not measured: AE-GROUP-2 title of check AE-GROUP-2: because\n" in text


@pytest.mark.parametrize("width", [80, 120])
def test_no_line_is_wider_than_the_terminal(width: int) -> None:
    text = _rendered(hostile_summary(), width)
    assert max(map(len, text.split("\n"))) <= width


@pytest.mark.parametrize("encoding", ["utf-8", "ascii", "iso-8859-1"])
def test_hostile_text_reaches_the_terminal_written_out(encoding: str) -> None:
    assert all(line.isprintable() for line in _rendered(hostile_summary(), 100, encoding=encoding).split("\n"))


def test_characters_that_the_terminal_lacks_are_written_out() -> None:
    failed = result("f", ("AE-A-1",), "fail", finding(came="漢"))
    assert "came     \\u6f22" in _rendered(summarise(results([failed])), encoding="ascii")


def test_hostile_text_is_not_read_as_markup() -> None:
    assert "[red]x[/red]" in _rendered(hostile_summary(), 200)


def test_hostile_escape_does_not_reach_a_colour_terminal() -> None:
    assert "\x1b[31m\\u" not in _rendered(hostile_summary(), 200, terminal=True)
    assert "\\x1b[31m" in _rendered(hostile_summary(), 200, terminal=True)


def test_colour_is_for_terminals_only() -> None:
    assert "\x1b[" in _rendered(_failing(), terminal=True)
    assert "\x1b[" not in _rendered(_failing())


def test_strays_are_named() -> None:
    assert "exchanges outside the check they belong to: #1\n" in _rendered(hostile_summary())


def test_huge_finding_is_bounded() -> None:
    huge = result("f", ("AE-A-1",), "fail", finding(1, came=HOSTILE * 100_000))
    assert len(_rendered(summarise(results([huge], exchanges=[exchange(1, chunks=[b"x" * 10**6])])))) < 20_000


def test_waived_failure_is_told_with_its_waiver() -> None:
    shown = _rendered(with_verdicts("pass", "waived"), 200)
    told = "until 2026-12-31 by Jo: the vendor has to mend it (https://example.org/1)"
    assert f"waived {told}: AE-GROUP-2 title of check AE-GROUP-2" in shown
    assert "\nfail " not in shown


def test_waiver_to_mend_is_told() -> None:
    shown = _rendered(with_verdicts("pass", waivers=(waiver("AE-GROUP-1"),)), 200)
    assert "the waiver of AE-GROUP-1 names what no longer fails: remove it" in shown


def test_failing_check_says_why_its_waiver_does_not_hold() -> None:
    shown = _rendered(with_verdicts("pass", "fail", waivers=(waiver("AE-GROUP-2", until="2026-01-01"),)), 200)
    assert "the waiver of Jo ran out on 2026-01-01" in shown
