"""CTRF, the Common Test Report Format: JSON for dashboards, bots and comparisons between runs.

Statuses follow `harness.reporting.cases`, so `failed` is 0 exactly when the exit code is; `rawStatus` is the verdict.
A check that did not run is `pending`; the case of the run itself then fails. `labels` name requirements,
levels, and the signature of a failure.
"""

from __future__ import annotations

import datetime
import uuid
from collections import Counter
from typing import Any

from harness.reporting.cases import Case, cases
from harness.reporting.conclusion import conclusion
from harness.reporting.headline import headline
from harness.reporting.visible import one_line
from harness.verdict import CONFORMS, Summary

SPEC_VERSION = "0.0.0"
"""The version of the format; it has had no other."""

_STATUSES = {"passed": "passed", "failure": "failed", "error": "failed", "skipped": "skipped"}
_ALL = ("passed", "failed", "skipped", "pending", "other")


def ctrf(summary: Summary) -> dict[str, Any]:
    """The whole report as a JSON object."""
    header, footer = summary.results.header, summary.results.footer
    ended = footer.ended if footer else header.started
    return {
        "reportFormat": "CTRF",
        "specVersion": SPEC_VERSION,
        "reportId": str(uuid.uuid5(uuid.NAMESPACE_OID, header.run)),
        "runId": header.run,
        "timestamp": ended,
        "generatedBy": one_line(f"turnproof {header.harness}"),
        "results": {
            "tool": {"name": "turnproof", "version": one_line(header.harness)},
            "summary": _summary(summary, _milliseconds(header.started), _milliseconds(ended)),
            "tests": [_test(case, header.suite) for case in cases(summary)],
            "environment": _environment(summary),
        },
    }


def _summary(summary: Summary, start: int, stop: int) -> dict[str, Any]:
    listed = cases(summary)
    counts = Counter(_status(case) for case in listed)
    return {
        "tests": len(listed),
        **{status: counts[status] for status in _ALL},
        "suites": len({case.group for case in listed}),
        "start": start,
        "stop": stop,
        "duration": max(0, stop - start),
        "extra": {
            "verdict": conclusion(summary),
            "headline": headline(summary),
            "exitCode": summary.exit_code,
            "requirements": dict(summary.verdicts),
        },
    }


def _test(case: Case, suite: str) -> dict[str, Any]:
    levels = case.levels.split(", ") if case.levels else []
    labels = {"requirements": list(case.requirements), "levels": levels, "signature": case.signature}
    test = {
        "testId": case.check,
        "name": case.name,
        "status": _status(case),
        "rawStatus": case.verdict,
        "duration": round(case.duration * 1000),
        "suite": [one_line(suite), case.group],
        "message": case.message,
        "trace": case.details,
        "type": "conformance",
        "filePath": case.check.partition("::")[0] if case.check else "",
        "labels": {name: values for name, values in labels.items() if values},
    }
    return {name: value for name, value in test.items() if value not in (None, "", {})}


def _status(case: Case) -> str:
    return "pending" if case.verdict == "not-run" and case.check else _STATUSES[case.kind]


def _environment(summary: Summary) -> dict[str, Any]:
    header = summary.results.header
    return {
        "appName": one_line(header.target.name),
        "shardId": str(header.share.shard),
        "healthy": summary.exit_code == CONFORMS,
        "extra": {
            "suite": header.suite,
            "kind": header.target.kind,
            "strict": header.strict,
            "requireAll": header.require_all,
            "parts": [dict(part) for part in header.parts],
        },
    }


def _milliseconds(time: str) -> int:
    return round(datetime.datetime.fromisoformat(time).timestamp() * 1000)
