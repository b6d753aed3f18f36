from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from harness.matrix.folder import CELL
from harness.replay import replay
from harness.reporting.samples import FOLDER, samples
from harness.results import RESULTS, read

SOURCES = (RESULTS, CELL, "matrix.toml")
"""What the samples are made from."""

RECORDED = [path for path in sorted(FOLDER.rglob(RESULTS)) if path.stat().st_size]


@pytest.fixture(scope="module")
def made() -> Mapping[str, str]:
    return samples()


def test_samples_are_what_is_made_of_the_recorded_results(made: Mapping[str, str]) -> None:
    for name, text in made.items():
        assert (FOLDER / name).read_bytes() == text.encode(), f"{name}: python -m harness.reporting.samples"


def test_every_sample_is_made_from_recorded_results(made: Mapping[str, str]) -> None:
    folders = ("run", "diff", "matrix")
    there = {path for name in folders for path in (FOLDER / name).rglob("*") if path.is_file()}
    assert {str(path.relative_to(FOLDER)) for path in there if path.name not in SOURCES} == set(made)


@pytest.mark.parametrize("path", RECORDED, ids=lambda path: str(path.parent.relative_to(FOLDER)))
def test_checks_of_the_recorded_results_come_to_the_same_verdicts(path: Path) -> None:
    assert [check.check for check in replay(read(path)) if not check.agrees] == []
