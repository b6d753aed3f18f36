from __future__ import annotations

import json

import pytest

from harness.evidence.canonical import canonical, parse


def test_the_order_of_keys_and_white_space_make_no_difference() -> None:
    assert canonical(parse('{ "b": [1, 2.50],\n "a": null }')) == b'{"a":null,"b":[1,2.5]}'


def test_every_string_of_json_has_a_spelling() -> None:
    assert canonical(json.loads('"\\ud800 \u00e9"')) == b'"\\ud800 \\u00e9"'


def test_numbers_of_different_kinds_are_told_apart() -> None:
    assert canonical(1) != canonical(1.0)
    assert canonical(0.1) == b"0.1"


@pytest.mark.parametrize("text", ['{"a":1,"a":2}', '[{"a":{"b":1,"b":1}}]', "NaN", "[Infinity]", "1e999", "{", ""])
def test_what_two_readers_may_read_differently_is_refused(text: str) -> None:
    with pytest.raises(ValueError):
        parse(text)
