from __future__ import annotations

from dataclasses import replace
from typing import Any

from harness.exchange import Exchange
from harness.reporting.findings import Section, account, alike
from harness.verdict import Summary, summarise
from tests.sample_results import exchange, finding, result, results, waiver

REFUSED = exchange(8, status=404, hop="opencode")


def _failing(*exchanges: Exchange, **changes: Any) -> Summary:
    """A run with a failure that exchange 7 shows, of a check that had these exchanges."""
    numbers = tuple(one.number for one in exchanges)
    failed = replace(result("f", ("AE-A-1",), "fail", finding(7)), exchanges=numbers, **changes)
    return summarise(results([failed], exchanges=exchanges))


def _sections(summary: Summary) -> list[Section]:
    return list(account(summary.checks[0], summary).sections())


def _headings(summary: Summary) -> list[str]:
    return [section.heading for section in _sections(summary)]


def test_exchange_that_is_the_only_one_is_not_listed() -> None:
    assert _headings(_failing(exchange(7))) == ["the exchange that shows it, #7"]


def test_exchanges_of_the_check_are_listed_with_those_that_are_shown_marked() -> None:
    *_, listed = _sections(_failing(exchange(6), exchange(7), REFUSED))
    assert listed.heading == "the exchanges of the check"
    assert [line[0] for line in listed.text.split("\n")] == [" ", ">", ">"]


def test_failure_behind_the_target_is_shown_where_the_exchange_is_the_clients() -> None:
    assert _headings(_failing(exchange(7), REFUSED)) == [
        "the exchange that shows it, #7",
        "what failed behind the target, #8",
    ]


def test_failure_behind_the_target_is_not_shown_where_the_exchange_is_behind_it_too() -> None:
    assert "what failed behind the target, #8" not in _headings(_failing(exchange(7, hop="model"), REFUSED))


def test_last_lines_of_what_the_target_wrote_are_shown() -> None:
    output = "".join(f"line {number}\n" for number in range(40))
    *_, wrote = _sections(_failing(exchange(7), output=output))
    assert wrote.heading == "the end of what the target wrote"
    assert wrote.text.split("\n") == [f"line {number}" for number in range(25, 40)]


def test_check_without_a_finding_has_its_exchanges_and_what_the_target_wrote() -> None:
    broke = replace(result("f", ("AE-A-1",), "inconclusive"), exchanges=(7,), output="KeyError")
    assert _headings(summarise(results([broke], exchanges=[exchange(7)]))) == [
        "the exchanges of the check",
        "the end of what the target wrote",
    ]


def test_failures_that_are_waived_by_others_are_not_alike() -> None:
    checks = [result(name, ("AE-A-1",), "fail", finding()) for name in "fg"]
    waivers = [waiver("AE-A-1", check=name, covers=(name,), owner=f"owner of {name}") for name in "fg"]
    assert len(alike(summarise(results(checks, waivers=tuple(waivers))).checks)) == 2
