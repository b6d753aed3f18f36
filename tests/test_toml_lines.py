from __future__ import annotations

import tomllib
from collections.abc import Iterator

import pytest

from harness.toml_lines import KeyPath, lines

EVERY_SHAPE = '''# a comment with [brackets] and = signs
title = "a # no comment"
dotted . "quoted.key" . 'literal' = 1
"esc\\"aped" = """
[not.a.table] \\""" "
not = "a key"
"""
literal = \'\'\'
[[nor.an.array]]\'\'\'\'
empty = ["", \'\', """""", [], {}]
date = 1979-05-27 07:32:00Z # a space in a scalar

[b.c]
many = [
  1, # one ]
  [2,
   3],
  { x = 1, y.z = [4, 5] },
]
[b]
late = true
[[list]]
name = "first"
[list.inner]
deep = 1
[[list.nested]]
n = 0
[[list.nested]]
n = 1
[other]
[[list]]
[[list.nested]]
n = 2
[list.inner]
deep = 2
'''


@pytest.mark.parametrize(
    ("path", "line"),
    [
        (("title",), 2),
        (("dotted",), 3),
        (("dotted", "quoted.key", "literal"), 3),
        (('esc"aped',), 4),
        (("literal",), 8),
        (("empty", 4), 10),
        (("date",), 11),
        (("b", "c"), 13),
        (("b", "c", "many"), 14),
        (("b", "c", "many", 0), 15),
        (("b", "c", "many", 1), 16),
        (("b", "c", "many", 1, 1), 17),
        (("b", "c", "many", 2), 18),
        (("b", "c", "many", 2, "y", "z", 1), 18),
        (("b",), 20),
        (("b", "late"), 21),
        (("list",), 22),
        (("list", 0), 22),
        (("list", 0, "name"), 23),
        (("list", 0, "inner", "deep"), 25),
        (("list", 0, "nested", 0, "n"), 27),
        (("list", 0, "nested", 1), 28),
        (("list", 0, "nested", 1, "n"), 29),
        (("list", 1), 31),
        (("list", 1, "nested", 0, "n"), 33),
        (("list", 1, "inner", "deep"), 35),
    ],
)
def test_a_value_is_on_the_line_of_its_key_or_header(path: KeyPath, line: int) -> None:
    assert lines(EVERY_SHAPE).of(path) == line


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_exactly_the_values_of_the_document_have_lines(newline: str) -> None:
    text = EVERY_SHAPE.replace("\n", newline)
    assert set(lines(text).by_path) == set(_paths((), tomllib.loads(text)))


def test_line_ends_of_two_characters_count_once() -> None:
    assert lines("a = 1\r\n\r\nb = 2\r\n").of(("b",)) == 3


def test_what_is_not_written_out_is_on_the_line_of_its_nearest_parent() -> None:
    assert lines(EVERY_SHAPE).of(("list", 1, "inner", "missing", 3)) == 34


def test_the_root_is_on_the_first_line() -> None:
    assert lines("\n\na = 1").of(()) == 1


@pytest.mark.parametrize("text", ["", "\n", "# only a comment", "[a]", "a = 1"])
def test_a_document_may_end_anywhere(text: str) -> None:
    assert set(lines(text).by_path) == set(_paths((), tomllib.loads(text)))


def _paths(path: KeyPath, value: object) -> Iterator[KeyPath]:
    if path:
        yield path
    if isinstance(value, dict):
        for name, item in value.items():
            yield from _paths((*path, name), item)
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _paths((*path, index), item)
