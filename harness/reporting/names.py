"""The names of the report files, apart from what writes them."""

from __future__ import annotations

from pathlib import Path

NAMES = ("junit.xml", "summary.md", "report.html", "ctrf.json", "badge.svg", "badge.json")
"""In the order in which they are told."""


def remove_reports(out: Path) -> None:
    """Take the reports of an earlier run out of a folder, so that none is taken for one of a run that is killed.

    Raises OSError when one cannot be removed.
    """
    for name in NAMES:
        (out / name).unlink(missing_ok=True)
