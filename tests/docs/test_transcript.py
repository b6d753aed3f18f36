from __future__ import annotations

from tests.docs.transcript import made, steady, written


def test_transcript_in_the_readme_is_what_its_command_says() -> None:
    """Made anew by `python -m tests.docs.transcript`."""
    assert steady(written()) == steady(made())
