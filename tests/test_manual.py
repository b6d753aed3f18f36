from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from harness import manual
from harness.cli import main
from harness.errors import UsageError

DOCS = Path(__file__).parent.parent / "docs"


def test_every_page_has_a_name() -> None:
    assert {path.resolve() for path in manual.pages().values()} == set(DOCS.rglob("*.md"))
    assert {"targets", "examples", "troubleshooting"} <= set(manual.pages())


@pytest.mark.parametrize("name", ["targets", "targets.md", "docs/targets.md"])
def test_page_is_shown_as_it_is_where_no_terminal_is(name: str) -> None:
    told = CliRunner().invoke(main, ["docs", name])
    assert (told.exit_code, told.stdout) == (0, (DOCS / "targets.md").read_text(encoding="utf-8"))


def test_pages_are_listed_with_their_titles() -> None:
    told = CliRunner().invoke(main, ["docs"])
    assert told.exit_code == 0
    assert "examples             Worked examples\n" in told.stdout
    assert told.stdout.endswith(f": {DOCS}\n")


def test_page_that_there_is_not_is_told_with_those_that_there_are() -> None:
    with pytest.raises(UsageError, match="no page is called 'nothing'") as caught:
        manual.page("nothing")
    assert "targets" in caught.value.hint


@pytest.mark.parametrize("name", ["AE-AUTH-3", "ae-auth-3"])
def test_requirement_is_shown_alone(name: str) -> None:
    told = CliRunner().invoke(main, ["docs", name])
    assert told.stdout.startswith("### AE-AUTH-3\n\nSHOULD. A 401 carries")
    assert (told.exit_code, told.stdout.count("#")) == (0, 3)


def test_requirement_that_there_is_not_is_told() -> None:
    with pytest.raises(UsageError, match="no requirement is called 'AE-AUTH-99'"):
        manual.text("AE-AUTH-99")
