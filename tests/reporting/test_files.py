from __future__ import annotations

import json
from pathlib import Path

import pytest

from harness.errors import UsageError
from harness.reporting.files import reports, write_reports
from harness.reporting.names import NAMES
from tests.sample_results import hostile_summary, mixed_summary


def test_every_report_is_written(tmp_path: Path) -> None:
    write_reports(mixed_summary(), tmp_path / "out")
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == sorted(NAMES)
    for name in ("ctrf.json", "badge.json"):
        assert isinstance(json.loads((tmp_path / "out" / name).read_text(encoding="utf-8")), dict)


def test_every_report_has_one_of_the_names() -> None:
    assert tuple(reports(mixed_summary())) == NAMES


def test_reports_follow_from_the_results_alone(tmp_path: Path) -> None:
    for folder in ("one", "two"):
        write_reports(mixed_summary(), tmp_path / folder)
    for name in NAMES:
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes(), name


def test_hostile_run_can_be_written(tmp_path: Path) -> None:
    write_reports(hostile_summary(), tmp_path)


def test_folder_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(UsageError, match="cannot be written"):
        write_reports(mixed_summary(), tmp_path / "file")
