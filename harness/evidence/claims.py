"""What evidence says, in a few facts: the same of a bundle and of Markdown."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from harness.evidence.provenance import Commit, Provenance, typed
from harness.evidence.statement import SCHEMA_VERSION, Result, result_of
from harness.reporting.headline import judgement
from harness.reporting.visible import one_line, shortened
from harness.verdict import Summary

_KINDS: Mapping[str, Any] = {
    **dict.fromkeys(("target", "kind", "suite", "run", "started", "harness", "result", "headline", "bundle"), str),
    **dict.fromkeys(("exit_code", "checks", "exchanges"), int),
    "ended": str | None,
    "finished": bool,
    "commit": Commit | None,
}


@dataclass(frozen=True)
class Claims:
    """The facts; `bundle` is the seal of the bundle, `ended` None for a run that did not end by itself."""

    target: str
    kind: str
    suite: str
    run: str
    started: str
    ended: str | None
    finished: bool
    harness: str
    commit: Commit | None
    result: Result
    exit_code: int
    headline: str
    checks: int
    exchanges: int
    bundle: str

    def to_json(self) -> dict[str, Any]:
        """The claims as a JSON object."""
        return {"schema": SCHEMA_VERSION, **asdict(self)}

    @staticmethod
    def from_json(value: Mapping[str, Any]) -> Claims:
        """The inverse of `to_json`; raises KeyError, TypeError, or ValueError for another schema."""
        told = dict(value)
        if told.pop("schema") != SCHEMA_VERSION:
            raise ValueError("the evidence is of another version of turnproof")
        told["commit"] = Commit.from_json(told["commit"])
        return Claims(**typed(told, _KINDS))


def claims_of(summary: Summary, provenance: Provenance, seal: str) -> Claims:
    """What a run says, whose bundle has this seal."""
    results = summary.results
    header, footer = results.header, results.footer
    return Claims(
        target=shortened(one_line(header.target.name), 200),
        kind=header.target.kind,
        suite=header.suite,
        run=header.run,
        started=header.started,
        ended=footer.ended if footer else None,
        finished=summary.finished,
        harness=provenance.harness,
        commit=provenance.target,
        result=result_of(summary),
        exit_code=summary.exit_code,
        headline=judgement(summary),
        checks=len(summary.checks),
        exchanges=len(results.exchanges),
        bundle=seal,
    )
