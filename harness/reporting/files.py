"""The report files of a run."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path

from harness.errors import UsageError
from harness.reporting.badge import badge, endpoint_badge
from harness.reporting.ctrf import ctrf
from harness.reporting.html import html
from harness.reporting.junit import junit
from harness.reporting.markdown import markdown
from harness.verdict import Summary

_WRITERS: Mapping[str, Callable[[Summary], str]] = {
    "junit.xml": junit,
    "summary.md": markdown,
    "report.html": html,
    "ctrf.json": lambda summary: _json(ctrf(summary)),
    "badge.svg": badge,
    "badge.json": lambda summary: _json(endpoint_badge(summary)),
}


def reports(summary: Summary) -> Mapping[str, str]:
    """The text of every report, by the name of its file."""
    return {name: write(summary) for name, write in _WRITERS.items()}


def write_reports(summary: Summary, out: Path) -> None:
    """Write every report into `out`; raises UsageError when that cannot be done."""
    try:
        out.mkdir(parents=True, exist_ok=True)
        for name, text in reports(summary).items():
            (out / name).write_text(text, encoding="utf-8")
    except OSError as error:
        raise UsageError(f"{out}: cannot be written: {error.strerror}", "choose another folder with --out") from error


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2) + "\n"
