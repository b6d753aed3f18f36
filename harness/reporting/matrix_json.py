"""`matrix.json`; schema: `fixtures/schemas/matrix_report.schema.json`.

- `schema`: 1. `name`, `exit_code`, `headline`: of the matrix.
- `comparisons`: each with its `binary`, `suite`, `target`, `checks`, its `cells` and its `steps`.
- a cell: `version`, `folder`, `exit_code`, `headline`, `seconds`; the id of its `run` and the `turnproof` that made it,
  null when it could not be run, and then the `reason`; the `verdicts` of its requirements by their ids.
- a step, from one version to the next that was judged: `old`, `new`; the requirements whose verdict changed, as
  `verdicts`; and `behaviour`, null when it is not known what the older version does: what the newer one does otherwise,
  each with its requirement, check, what came `before` and `after`, and the number of the exchange in the newer run.
"""

from __future__ import annotations

from typing import Any

from harness.matrix.outcome import Outcome
from harness.matrix.report import Report, Section
from harness.matrix.steps import Step
from harness.reporting.matrix_words import cell_headline, matrix_headline, otherwise, verdict_changes

SCHEMA_VERSION = 1


def json_matrix(report: Report) -> dict[str, Any]:
    """The matrix as a JSON object."""
    return {
        "schema": SCHEMA_VERSION,
        "name": report.matrix.name,
        "exit_code": report.exit_code,
        "headline": matrix_headline(report),
        "comparisons": [_section(section) for section in report.sections],
    }


def _section(section: Section) -> dict[str, Any]:
    comparison = section.comparison
    return {
        "binary": comparison.binary,
        "suite": comparison.suite,
        "target": comparison.target,
        "checks": comparison.checks or None,
        "cells": [_cell(outcome) for outcome in section.outcomes],
        "steps": [_step(step) for step in section.steps],
    }


def _cell(outcome: Outcome) -> dict[str, Any]:
    summary = outcome.summary
    return {
        "version": outcome.task.version,
        "folder": outcome.task.folder,
        "exit_code": outcome.exit_code,
        "headline": cell_headline(outcome),
        "seconds": outcome.seconds,
        "run": summary.results.header.run if summary else None,
        "turnproof": summary.results.header.harness if summary else None,
        "reason": None if summary else outcome.reason,
        "verdicts": {row.requirement.id: row.verdict for row in summary.rows} if summary else {},
    }


def _step(step: Step) -> dict[str, Any]:
    changes = [
        {
            "requirement": row.requirement.id,
            "change": row.change,
            "old": row.old.verdict if row.old else None,
            "new": row.new.verdict if row.new else None,
        }
        for row in verdict_changes(step)
    ]
    behaviour = [
        {
            "requirement": one.id,
            "check": one.title,
            "before": one.before or None,
            "after": one.after,
            "exchange": one.exchange.number if one.exchange and one.named else None,
        }
        for one in otherwise(step)
    ]
    return {
        "old": step.old.task.version,
        "new": step.new.task.version,
        "verdicts": changes,
        "behaviour": None if step.behaviour is None else behaviour,
    }
