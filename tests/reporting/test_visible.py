from __future__ import annotations

import pytest

from harness.reporting.visible import last_lines, one_line, shortened, visible


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[31m", "\\x1b[31m"),
        ("\x00", "\\x00"),
        ("\r", "\\r"),
        ("\x9b", "\\x9b"),
        ("\u2028", "\\u2028"),
        ("\u202e", "\\u202e"),
        ("\u200b", "\\u200b"),
        ("\ud800", "\\ud800"),
        ("\uffff", "\\uffff"),
        ("\U000e0041", "\\U000e0041"),
        ("plain\n\tüñ 漢 😀", "plain\n\tüñ 漢 😀"),
    ],
)
def test_visible_writes_out_what_acts_or_hides(text: str, shown: str) -> None:
    assert visible(text) == shown


def test_one_line_has_no_line_end() -> None:
    assert one_line("a\n\tb") == "a\\n\\tb"


@pytest.mark.parametrize("characters", [4, 5, 103])
def test_text_that_is_hardly_longer_than_its_limit_is_left_alone(characters: int) -> None:
    assert shortened("a" * characters, 4) == "a" * characters


def test_long_text_keeps_its_beginning_and_its_end() -> None:
    assert shortened("a" * 6 + "b" * 2000 + "c" * 2, 8) == "aaaaaa [... 2,000 characters left out ...] cc"


@pytest.mark.parametrize("limit", [0, 1, 7, 300])
def test_text_that_is_cut_becomes_shorter(limit: int) -> None:
    assert len(shortened("a" * (limit + 100), limit)) < limit + 100


def test_text_shortened_to_nothing_says_how_long_it_was() -> None:
    assert shortened("a" * 100, 0) == " [... 100 characters left out ...] "


def test_last_lines_are_fifteen_that_are_safe_to_show() -> None:
    text = "".join(f"\x1b[31m{number}\r\n" for number in range(20)) + "\n"
    assert last_lines(text) == tuple(f"\\x1b[31m{number}" for number in range(5, 20))


def test_nothing_has_no_last_lines() -> None:
    assert last_lines(" \n") == ()
