from __future__ import annotations

from pathlib import Path

import pytest

from harness.errors import UsageError
from harness.target_file import from_url, load
from harness.variables import expect_set
from tests.target_texts import AGENT, HEAD, KEY, MINT, REVOKED, START, URL, write

STARTED = HEAD + START + '[start.env]\nA = "{env:FIRST}-{port}"\n' + AGENT + KEY


def refused(path: Path, environ: dict[str, str]) -> list[str]:
    with pytest.raises(UsageError) as caught:
        expect_set(load(path), environ)
    return caught.value.message.replace(str(path), path.name).split("\n")


@pytest.mark.parametrize("value", [{}, {"FIRST": ""}], ids=["missing", "empty"])
def test_variables_that_are_missing_are_all_told_with_their_places(tmp_path: Path, value: dict[str, str]) -> None:
    assert refused(write(tmp_path, STARTED), value) == [
        "my.toml:6: start.env.A: the environment variable FIRST is not set, or is empty",
        "my.toml:13: keys[0].env: the environment variable MY_KEY is not set, or is empty",
    ]


def test_target_whose_variables_are_set_is_let_pass(tmp_path: Path) -> None:
    expect_set(load(write(tmp_path, STARTED)), {"FIRST": "1", "MY_KEY": "k"})


def test_key_that_is_revoked_may_lack_its_variable(tmp_path: Path) -> None:
    expect_set(load(write(tmp_path, HEAD + URL + AGENT + REVOKED + 'env = "OLD"\n')), {"MY_KEY": "k"})


def test_variables_of_requests_for_keys_are_needed_too(tmp_path: Path) -> None:
    minted = REVOKED + MINT.replace("pointer", 'headers = { A = "{env:OWNER}" }\npointer')
    assert refused(write(tmp_path, HEAD + URL + AGENT + minted), {"MY_KEY": "k"}) == [
        "my.toml:17: keys[1].mint.headers.A: the environment variable OWNER is not set, or is empty"
    ]


def test_braces_where_no_placeholder_is_known_name_no_variable(tmp_path: Path) -> None:
    named = HEAD.replace('"n"', '"{env:NAME}"')
    expect_set(load(write(tmp_path, named + URL + AGENT + KEY)), {"MY_KEY": "k"})


def test_target_without_a_file_is_let_pass() -> None:
    expect_set(from_url("http://127.0.0.1:1"), {})
