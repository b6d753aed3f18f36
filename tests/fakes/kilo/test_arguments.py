from __future__ import annotations

import pytest

from harness.fakes.kilo.arguments import BadArguments, given, parse

KNOWN = frozenset({"--model", "--auto", "--format", "--dir", "--thinking"})


def test_options_have_their_long_names_and_words_stay_in_order() -> None:
    asked = parse(["run", "-m", "nemo/m", "--auto", "--format=json", "one", "two"], KNOWN)
    assert asked.command == "run"
    assert asked.options == {"--model": "nemo/m", "--auto": True, "--format": "json"}
    assert asked.words == ("one", "two")


def test_nothing_after_two_dashes_is_an_option() -> None:
    assert parse(["run", "--", "--auto", "-m"], KNOWN).after_dashes == ("--auto", "-m")


def test_an_option_that_the_version_lacks_is_refused() -> None:
    with pytest.raises(BadArguments):
        parse(["run", "--pure"], KNOWN)


@pytest.mark.parametrize(
    ("arguments", "value"),
    [
        (["run", "--dir", "/x", "--", "--dir", "/y"], "/x"),
        (["run", "--dir=/x"], "/x"),
        (["run", "--unheard-of", "--dir=/x", "--auto"], "/x"),
        (["run", "--dir"], ""),
        (["run", "--", "--dir", "/y"], None),
    ],
)
def test_an_option_is_found_wherever_it_stands_before_two_dashes(arguments: list[str], value: str | None) -> None:
    assert given(arguments, "-d", "--dir") == value
