from __future__ import annotations

import re

import pytest

from harness.reporting.messages import Message, messages
from harness.reporting.messages_page import PAGE, SOURCE, in_step

TEXT = PAGE.read_text(encoding="utf-8")
MESSAGES = messages(SOURCE)


def test_page_has_every_message_of_the_source() -> None:
    """Made anew by `python -m harness.reporting.messages_page`."""
    assert in_step(TEXT) == TEXT


def test_errors_of_every_kind_are_on_the_page() -> None:
    for error in {message.error for message in MESSAGES}:
        assert f"<!-- from the source: {error} -->" in TEXT


@pytest.mark.parametrize("message", [m for m in MESSAGES if m.error in ("UsageError", "TargetNotReady")], ids=str)
def test_message_says_what_to_do_next(message: Message) -> None:
    assert message.hint


def test_messages_that_people_wrote_about_are_those_of_the_source() -> None:
    source = "".join(path.read_text(encoding="utf-8") for path in SOURCE.glob("*.py"))
    written = TEXT[: TEXT.index("<!-- from")]
    rows = re.findall(r"^\| `([^`]+)` \|", written, re.MULTILINE)
    assert rows
    assert [row for row in rows if row not in source] == []
