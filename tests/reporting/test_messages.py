from __future__ import annotations

from pathlib import Path

import pytest

from harness.reporting.messages import Message, messages


def found(folder: Path, source: str) -> tuple[Message, ...]:
    (folder / "module.py").write_text(source, encoding="utf-8")
    return messages(folder)


@pytest.mark.parametrize(
    ("source", "text", "hint"),
    [
        ('raise UsageError("a", "b")', "a", "b"),
        ('raise UsageError("a")', "a", ""),
        ('raise UsageError(f"{x}: is {y!r}", f"add {z}")', "…: is …", "add …"),
        ('raise UsageError("a " + f"{x}", "b")', "a …", "b"),
        ('raise UsageError("a " "c", "b")', "a c", "b"),
        ('HINT = "b"\ndef f():\n    told = f"a {x}"\n    raise UsageError(told, HINT)', "a …", "b"),
        ('def f():\n    one, two = "a", "b"\n    raise UsageError(one, two)', "a", "b"),
        ('raise UsageError("a", "b" if x else "c")', "a", "b / c"),
        ('raise UsageError("a", words())', "a", "…"),
    ],
)
def test_message_is_found_as_it_is_worded(tmp_path: Path, source: str, text: str, hint: str) -> None:
    assert found(tmp_path, source) == (Message(text, hint, "UsageError"),)


def test_step_of_a_target_that_is_not_ready_is_no_message(tmp_path: Path) -> None:
    assert found(tmp_path, 'raise TargetNotReady("it starts", "a", "b")') == (Message("a", "b", "TargetNotReady"),)


def test_message_that_is_one_of_several_is_found_as_each(tmp_path: Path) -> None:
    source = 'def f():\n    if x:\n        told = "a"\n    else:\n        told = "c"\n    raise HarnessError(told)'
    assert [message.text for message in found(tmp_path, source)] == ["a", "c"]


def test_message_of_somebody_else_is_none_of_ours(tmp_path: Path) -> None:
    assert found(tmp_path, 'raise UsageError(str(error), "b")\nraise UsageError(f"{a}: {b}")') == ()


def test_name_is_looked_up_in_the_function_that_it_is_used_in(tmp_path: Path) -> None:
    source = 'def f():\n    told = "a"\n    raise UsageError(told)\ndef g(told):\n    raise UsageError(told)'
    assert [message.text for message in found(tmp_path, source)] == ["a"]
