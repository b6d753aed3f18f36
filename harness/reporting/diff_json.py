"""The object that `turnproof diff --json` prints; schema: `fixtures/schemas/diff.schema.json`.

- `schema`: 1. `exit_code`, `headline`: what the diff says. `suite`: that of both runs.
- `old`, `new`: of each run its `run`, `target`, `started`, `turnproof` version, `parts`, `exit_code` and `headline`.
- `changes`: how many requirements changed in each way.
- `requirements`: all, each with its `change`, whether it `decides`, its verdicts in `old` and `new`, null where that
  run does not have it, and the `checks` that tell of the change: each with `old` and `new`, an object with the
  `verdict`, `reason`, `finding` and `exchanges` of its result, null where that run does not have the check.

Text is as it was recorded; it is for the reader to make it safe to show.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from harness.diff import CHANGES, CheckChange, Diff, RowChange
from harness.reporting import changes
from harness.reporting.headline import headline
from harness.verdict import Checked, Summary

SCHEMA_VERSION = 1


def json_diff(diff: Diff) -> dict[str, Any]:
    """The diff as a JSON object."""
    return {
        "schema": SCHEMA_VERSION,
        "exit_code": diff.exit_code,
        "headline": changes.headline(diff),
        "suite": diff.new.results.header.suite,
        "old": _run(diff.old),
        "new": _run(diff.new),
        "changes": {change: len(diff.of(change)) for change in CHANGES},
        "requirements": [_requirement(row) for row in diff.rows],
    }


def _run(summary: Summary) -> dict[str, Any]:
    header = summary.results.header
    return {
        "run": header.run,
        "target": header.target.name,
        "started": header.started,
        "turnproof": header.harness,
        "parts": [dict(part) for part in header.parts],
        "exit_code": summary.exit_code,
        "headline": headline(summary),
    }


def _requirement(row: RowChange) -> dict[str, Any]:
    return {
        **row.requirement.to_json(),
        "change": row.change,
        "decides": row.decides,
        "old": row.old.verdict if row.old else None,
        "new": row.new.verdict if row.new else None,
        "checks": [_check(check) for check in row.checks],
    }


def _check(change: CheckChange) -> dict[str, Any]:
    found = change.new or change.old
    assert found is not None
    return {"check": found.check, "title": found.title, "old": _side(change.old), "new": _side(change.new)}


def _side(checked: Checked | None) -> dict[str, Any] | None:
    if checked is None:
        return None
    result = checked.result
    return {
        "verdict": checked.status,
        "reason": result.reason if result else None,
        "finding": asdict(result.finding) if result and result.finding else None,
        "exchanges": list(result.exchanges) if result else [],
    }
