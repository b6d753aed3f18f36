"""Evidence as an in-toto Statement with the Test Result predicate: a pure function of a run's records.

The predicate's own fields are those of https://in-toto.io/attestation/test-result/v0.1; what makes it evidence is in
the field `turnproof`: every record of the results file, with every exchange, what ran, and the seal.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal

from harness.evidence.canonical import canonical, digest
from harness.evidence.provenance import Provenance
from harness.results import RESULTS, line_of, results_of
from harness.verdict import CONFORMS, Checked, Summary, summarise

TYPE = "https://in-toto.io/Statement/v1"
PREDICATE = "https://in-toto.io/attestation/test-result/v0.1"
SCHEMA_VERSION = 1
OWN = "turnproof"
SEAL = "seal"

Result = Literal["PASSED", "WARNED", "FAILED"]


def statement_of(records: Sequence[Mapping[str, Any]], provenance: Provenance) -> dict[str, Any]:
    """The sealed statement on a run with these records.

    Raises ValueError, KeyError, TypeError or AttributeError when they are none of a results file.
    """
    summary = summarise(results_of([dict(record) for record in records]))
    statement = {
        "_type": TYPE,
        "subject": list(_subjects(records, summary, provenance)),
        "predicateType": PREDICATE,
        "predicate": {
            "result": result_of(summary),
            "configuration": list(_configuration(summary, provenance)),
            "passedTests": [checked.check for checked in summary.checks if checked.status == "pass"],
            "warnedTests": [checked.check for checked in summary.checks if is_warned(checked, summary)],
            "failedTests": [checked.check for checked in summary.checks if summary.check_decides(checked)],
            OWN: {
                "schema": SCHEMA_VERSION,
                "provenance": provenance.to_json(),
                "records": [dict(record) for record in records],
            },
        },
    }
    return sealed(statement)


def result_of(summary: Summary) -> Result:
    """What a run says, in the words of the predicate: WARNED where it conforms and not everything held."""
    if summary.exit_code != CONFORMS:
        return "FAILED"
    return "WARNED" if any(is_warned(checked, summary) for checked in summary.checks) else "PASSED"


def is_warned(checked: Checked, summary: Summary) -> bool:
    """Whether a check did not hold, or was not made, without deciding anything."""
    return checked.status not in ("pass", "not-applicable") and not summary.check_decides(checked)


def seal_of(statement: Mapping[str, Any]) -> str:
    """The digest over all of a statement but the seal itself, such as `sha256:5d41…`."""
    predicate = statement["predicate"]
    own = {name: value for name, value in predicate[OWN].items() if name != SEAL}
    return f"sha256:{digest(canonical({**statement, 'predicate': {**predicate, OWN: own}}))}"


def sealed(statement: dict[str, Any]) -> dict[str, Any]:
    """The statement with its seal."""
    predicate = statement["predicate"]
    return {**statement, "predicate": {**predicate, OWN: {**predicate[OWN], SEAL: seal_of(statement)}}}


def _subjects(
    records: Sequence[Mapping[str, Any]], summary: Summary, provenance: Provenance
) -> Iterator[dict[str, Any]]:
    lines = "".join(line_of(record) for record in records)
    yield {"name": RESULTS, "digest": {"sha256": digest(lines.encode())}}
    if provenance.target is not None:
        yield {"name": f"target: {summary.results.header.target.name}", "digest": {"gitCommit": provenance.target.id}}


def _configuration(summary: Summary, provenance: Provenance) -> Iterator[dict[str, Any]]:
    """What took part, as resource descriptors: the harness, and each part of the chain."""
    header = summary.results.header
    told = {"version": provenance.harness, "suite": header.suite, "run": header.run}
    yield {"name": "turnproof", "digest": {"sha256": provenance.sources}, "annotations": told}
    for part in header.parts:
        hashed = {"digest": {"sha256": part["sha256"]}} if "sha256" in part else {}
        annotations = {name: value for name, value in part.items() if name not in ("name", "sha256")}
        yield {"name": part["name"], **hashed, "annotations": annotations}
