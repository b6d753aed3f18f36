from __future__ import annotations

from harness.spoilt_keys import spoilt


def test_long_key_is_spoilt_in_every_way() -> None:
    assert spoilt("sk-Abcdefghijklm") == {
        "without its end": "sk-Abcdefghijkl",
        "in the other case": "SK-aBCDEFGHIJKLM",
    }


def test_key_without_letters_has_no_other_case() -> None:
    assert spoilt("0123456789012345") == {"without its end": "012345678901234"}


def test_short_key_is_not_spoilt() -> None:
    assert spoilt("sk-Abcdefghijkl") == {}
