"""The object that `--json` prints; schema: `fixtures/schemas/summary.schema.json`.

- `schema`: 1. `turnproof`: the version that ran. `suite`, `run`, `seed`, `started`, `shard`, `strict`, `require_all`,
  `target` and `parts` are those of the results file's header.
- `exit_code`, `headline`: what the run says. `outcome`, `ended`, `error`: from the footer, null without one.
  `finished`: whether every planned check has a result and the run said that it was through.
- `planned`, `made`: how many checks. `musts`: the MUST requirements that apply, and of them the `measured`, the
  `passed`, those `waived` and those measured `in_part`. `verdicts`: how many requirements have each verdict.
- `requirements`: each with its `verdict`, whether that `decides` against conformance, and the ids of its `checks` and
  of the `unmeasured` among them.
- `checks`: each with its requirements, `verdict`, `decides`, `duration` in seconds, `reason`, `finding`, its failure's
  `signature`, the numbers of its `exchanges`, of the `waivers` that waive it their indexes, and the `objection`: why
  others that name it do not. `strays`: the numbers of the exchanges outside their check.
- `waivers`: those of the target file, as in the results file's header, each with what it came to as its `standing`:
  `in-force`, `ran-out`, `different`, `not-failing`, `unknown` or `unjudged` (not all that it names was measured).

Text is as it was recorded; it is for the reader to make it safe to show.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from harness.reporting.headline import headline
from harness.verdict import Checked, Row, Summary

SCHEMA_VERSION = 1


def json_summary(summary: Summary) -> dict[str, Any]:
    """The summary as a JSON object."""
    return {
        "schema": SCHEMA_VERSION,
        **_header(summary),
        **_end(summary),
        "planned": len(summary.checks),
        "made": summary.made,
        "musts": asdict(summary.musts),
        "verdicts": dict(summary.verdicts),
        "requirements": [_requirement(row, summary) for row in summary.rows],
        "checks": [_check(checked, summary) for checked in summary.checks],
        "waivers": [{**waiver.to_json(), "standing": stands} for waiver, stands in summary.waivers],
        "strays": list(summary.results.strays),
    }


def _header(summary: Summary) -> dict[str, Any]:
    header = summary.results.header
    return {
        "turnproof": header.harness,
        "suite": header.suite,
        "run": header.run,
        "seed": header.seed,
        "started": header.started,
        "shard": str(header.share.shard),
        "strict": header.strict,
        "require_all": header.require_all,
        "target": header.target.to_json(),
        "parts": [dict(part) for part in header.parts],
    }


def _end(summary: Summary) -> dict[str, Any]:
    footer = summary.results.footer
    return {
        "exit_code": summary.exit_code,
        "headline": headline(summary),
        "finished": summary.finished,
        "outcome": footer.outcome if footer else None,
        "ended": footer.ended if footer else None,
        "error": footer.error if footer else None,
    }


def _requirement(row: Row, summary: Summary) -> dict[str, Any]:
    return {
        **row.requirement.to_json(),
        "group": row.requirement.group,
        "verdict": row.verdict,
        "decides": summary.row_decides(row),
        "checks": [checked.check for checked in row.checks],
        "unmeasured": [checked.check for checked in row.unmeasured],
    }


def _check(checked: Checked, summary: Summary) -> dict[str, Any]:
    result = checked.result
    return {
        "check": checked.check,
        "title": checked.title,
        "requirements": [requirement.id for requirement in checked.requirements],
        "verdict": checked.status,
        "decides": summary.check_decides(checked),
        "duration": round(result.duration, 4) if result else None,
        "reason": result.reason if result else None,
        "finding": asdict(result.finding) if result and result.finding else None,
        "signature": result.signature if result else None,
        "exchanges": list(result.exchanges) if result else [],
        "waivers": [summary.results.header.waivers.index(waiver) for waiver in checked.waivers],
        "objection": checked.objection or None,
    }
