from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from harness import requirements
from harness.errors import HarnessError, UsageError
from harness.requirements import Requirement, catalogue, suite_folder, suites
from tests.sample_results import requirement

GOOD = """
[AE-AUTH-2]
level = "MUST"
statement = "Keys are checked."
sources = ["A", "C"]

[AE-AUTH-1]
level = "SHOULD"
statement = "Rates are capped."
sources = ["B"]
capability = "rate_cap"
"""


@pytest.fixture
def suites_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(requirements, "SUITES", tmp_path)
    return tmp_path


def _write(folder: Path, suite: str, text: str) -> None:
    (folder / suite).mkdir()
    (folder / suite / "requirements.toml").write_text(text, encoding="utf-8")


def test_requirement_survives_json() -> None:
    row = requirement("AE-AUTH-1", "MAY", "mint")
    assert Requirement.from_json(json.loads(json.dumps(row.to_json()))) == row


def test_group_is_the_middle_of_the_id() -> None:
    assert requirement("AE-AUTH-1").group == "AUTH"


@pytest.mark.parametrize("missing", ["id", "level", "statement", "sources"])
def test_requirement_that_lacks_a_field_is_refused(missing: str) -> None:
    row = {key: value for key, value in requirement("AE-AUTH-1").to_json().items() if key != missing}
    with pytest.raises(KeyError, match=missing):
        Requirement.from_json(row)


@pytest.mark.parametrize("change", [{"id": "AUTH"}, {"id": "AE-AUTH-"}, {"id": "AE-AUTH-1\n"}, {"level": "must"}])
def test_requirement_with_a_wrong_field_is_refused(change: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="not"):
        Requirement.from_json({**requirement("AE-AUTH-1").to_json(), **change})


def test_catalogue_keeps_the_order_of_its_file(suites_folder: Path) -> None:
    _write(suites_folder, "one", GOOD)
    assert [row.id for row in catalogue("one")] == ["AE-AUTH-2", "AE-AUTH-1"]


def test_catalogue_holds_all_fields(suites_folder: Path) -> None:
    _write(suites_folder, "one", GOOD)
    assert catalogue("one")[1] == Requirement("AE-AUTH-1", "SHOULD", "Rates are capped.", ("B",), "rate_cap")


def test_suites_are_the_folders_with_a_catalogue_sorted(suites_folder: Path) -> None:
    _write(suites_folder, "two", GOOD)
    _write(suites_folder, "one", GOOD)
    (suites_folder / "other").mkdir()
    assert suites() == ("one", "two")


def test_unknown_suite_is_refused_with_the_known_ones(suites_folder: Path) -> None:
    _write(suites_folder, "one", GOOD)
    with pytest.raises(UsageError) as caught:
        suite_folder("../one")
    assert "one" in caught.value.hint


@pytest.mark.parametrize(
    "text",
    [
        "not toml",
        'AE-AUTH-1 = "text"',
        '[AE-AUTH-1]\nlevel = "MUST"',
        GOOD.replace("SHOULD", "should"),
        GOOD.replace("AE-AUTH-2", "AUTH"),
        GOOD.replace('["B"]', "1"),
    ],
)
def test_broken_catalogue_is_the_harness_fault(suites_folder: Path, text: str) -> None:
    _write(suites_folder, "one", text)
    with pytest.raises(HarnessError, match=r"requirements\.toml of suite one"):
        catalogue("one")
