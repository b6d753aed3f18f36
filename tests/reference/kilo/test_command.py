from __future__ import annotations

from pathlib import Path

import pytest

from harness.reference.kilo.command import LONGEST, build_command, check_prompt
from harness.reference.kilo.config import Config
from harness.reference.kilo.refusal import Refusal


def test_the_prompt_is_the_last_argument_after_a_double_dash() -> None:
    config = Config("a/b", "http://h", extra_args=("--agent", "code"), command=("nice", "kilo"))
    command = build_command(config, Path("/work"), "-x")
    assert command[:2] == ["nice", "kilo"]
    assert command[2:] == [
        *("run", "--auto", "--pure", "--format", "json", "-m", "nemo/a/b", "--dir", "/work"),
        *("--thinking", "--agent", "code", "--", "-x"),
    ]


def test_thinking_can_be_left_out() -> None:
    assert "--thinking" not in build_command(Config("m", thinking=False), Path("/work"), "x")


@pytest.mark.parametrize(
    ("prompt", "status"), [("a\0b", 400), ("\ud800", 400), ("x" * (LONGEST + 1), 413), ("ä" * LONGEST, 413)]
)
def test_what_cannot_be_an_argument_is_refused(prompt: str, status: int) -> None:
    with pytest.raises(Refusal) as caught:
        check_prompt(prompt)
    assert caught.value.status == status


def test_the_longest_argument_is_let_through() -> None:
    check_prompt("x" * LONGEST)
