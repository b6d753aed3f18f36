"""The bundle: evidence as JSON, from which everything that it says can be worked out again."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from harness.errors import UsageError
from harness.evidence.canonical import canonical, parse
from harness.evidence.claims import Claims, claims_of
from harness.evidence.provenance import Provenance
from harness.evidence.refusal import Refused
from harness.evidence.signing import Signature, opened
from harness.evidence.statement import OWN, PREDICATE, SEAL, TYPE, seal_of, statement_of
from harness.results import Results, results_of
from harness.verdict import summarise

_GIVE = "Give the evidence.json that turnproof live wrote, or its envelope."


@dataclass(frozen=True)
class Bundle:
    """A bundle whose seal is whole and which agrees with itself; `payload` is what the signatures are on."""

    results: Results
    provenance: Provenance
    claims: Claims
    payload: bytes
    signatures: tuple[Signature, ...] = ()


def written(statement: Mapping[str, Any]) -> str:
    """The statement as it stands in `evidence.json`."""
    return json.dumps(statement, ensure_ascii=True, indent=1) + "\n"


def read_bundle(text: str) -> Bundle:
    """The bundle in the text of a file, which may be an envelope.

    Raises Refused when it is cut, unsealed or edited, or when what it says does not follow from its records.
    """
    value = _json(text)
    signatures: tuple[Signature, ...] = ()
    payload = text.encode("utf-8", "surrogatepass")
    if "payloadType" in value:
        try:
            payload, signatures = opened(value)
            value = _json(payload.decode("utf-8"))
        except (ValueError, KeyError, TypeError) as error:
            raise Refused("edited", f"the envelope cannot be opened: {error!r}", _GIVE) from error
    try:
        return _checked(value, payload, signatures)
    except RecursionError as error:
        raise Refused("edited", "it is nested too deeply", _GIVE) from error


def _json(text: str) -> dict[str, Any]:
    try:
        value = parse(text)
    except json.JSONDecodeError as error:
        if error.pos >= len(text.rstrip()) or error.msg.startswith("Unterminated"):
            raise Refused("cut", "the JSON ends before its end", _GIVE) from error
        raise Refused("edited", f"it is no JSON: {error}", _GIVE) from error
    except (ValueError, RecursionError) as error:
        raise Refused("edited", f"it is no JSON that can be trusted: {error}", _GIVE) from error
    if not isinstance(value, dict):
        raise Refused("unsealed", "it is no evidence of turnproof", _GIVE)
    return value


def _checked(statement: dict[str, Any], payload: bytes, signatures: tuple[Signature, ...]) -> Bundle:
    predicate = statement.get("predicate")
    own = predicate.get(OWN) if isinstance(predicate, dict) else None
    seal = own.get(SEAL) if isinstance(own, dict) else None
    if not isinstance(own, dict) or not isinstance(seal, str):
        raise Refused("unsealed", "it has no seal", _GIVE)
    if seal_of(statement) != seal:
        raise Refused("edited", "something in it is not as it was sealed", _GIVE)
    if statement.get("_type") != TYPE or statement.get("predicateType") != PREDICATE:
        raise Refused("unsealed", "it is another statement than turnproof makes", _GIVE)
    try:
        provenance = Provenance.from_json(own["provenance"])
        follows = statement_of(own["records"], provenance)
        results = results_of(own["records"])
    except (ValueError, KeyError, TypeError, AttributeError, IndexError, UsageError) as error:
        raise Refused("edited", f"its records cannot be read: {error!r}", _GIVE) from error
    if canonical(follows) != canonical(statement):
        raise Refused("edited", "what it says does not follow from its records", _GIVE)
    return Bundle(results, provenance, claims_of(summarise(results), provenance, seal), payload, signatures)
