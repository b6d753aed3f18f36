from __future__ import annotations

from harness.exchange import Request
from harness.reporting.course import course
from tests.sample_results import HOSTILE, exchange


def test_exchanges_are_in_order_one_line_each_with_the_shown_one_marked() -> None:
    asked = Request("GET", "/event?directory=x")
    lines = course([exchange(9), exchange(10, asked, (), None, hop="opencode", end="failed")], {9}).split("\n")
    assert lines == [
        "> #9   turnproof -> target  404   12 ms  POST /v1/chat/completions",
        "  #10  target -> opencode     -   12 ms  GET /event?directory=x (no answer)",
    ]


def test_fault_made_on_purpose_is_told() -> None:
    assert course([exchange(fault="cut", end="cut")], ()).endswith(" (cut off, fault made on purpose: cut)")


def test_long_list_is_cut_in_its_middle_around_what_is_shown() -> None:
    lines = course([exchange(number) for number in range(1, 41)], {20}).split("\n")
    assert [line.split()[0] for line in lines[7:12]] == ["#8", "[...", ">", "[...", "#33"]
    assert (lines[8], lines[10], len(lines)) == ("  [... 11 more ...]", "  [... 12 more ...]", 19)


def test_line_is_not_left_out_for_one_that_says_so() -> None:
    assert "more" not in course([exchange(number) for number in range(1, 18)], ())


def test_what_the_target_sent_is_safe_to_show() -> None:
    asked = Request("GET", f"/{HOSTILE}")
    assert course([exchange(request=asked, fault=HOSTILE)], ()).isprintable()
