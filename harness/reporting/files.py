"""The report files of a run."""

from __future__ import annotations

from pathlib import Path

from harness.errors import UsageError
from harness.reporting.junit import junit
from harness.reporting.markdown import markdown
from harness.verdict import Summary


def write_reports(summary: Summary, out: Path) -> None:
    """Write `junit.xml` and `summary.md` into `out`; raises UsageError when that cannot be done."""
    try:
        (out / "junit.xml").write_text(junit(summary), encoding="utf-8")
        (out / "summary.md").write_text(markdown(summary), encoding="utf-8")
    except OSError as error:
        raise UsageError(f"{out}: cannot be written: {error.strerror}", "choose another folder with --out") from error
