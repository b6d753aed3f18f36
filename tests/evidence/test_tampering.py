"""Every field of the evidence is sealed: none can be changed, taken out or added to."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest

from harness.evidence.bundle import read_bundle
from harness.evidence.refusal import Refused
from harness.evidence.signing import STATEMENT_TYPE, expect_signed, opened
from harness.evidence.statement import sealed, statement_of
from tests.evidence.samples import PROVENANCE, bundle, changed, leaves, other, sample, statement
from tests.evidence.signed import KEY, OTHER
from tests.sample_results import records

STATEMENT = statement()
LEAVES = list(leaves(STATEMENT))
DERIVED = [path for path in LEAVES if path[:3] not in (("predicate", "turnproof", "records"),) and path[-1] != "seal"]
ENVELOPE = json.loads(KEY.envelope())


def named(path: Any) -> str:
    return ".".join(map(str, path))


def without(value: Any, path: Any) -> Any:
    def take_out(whole: Any) -> Any:
        if isinstance(whole, dict):
            return {key: item for key, item in whole.items() if key != path[-1]}
        return [item for index, item in enumerate(whole) if index != path[-1]]

    return changed(value, path[:-1], take_out)


def refused(value: Any) -> str:
    with pytest.raises(Refused) as caught:
        read_bundle(bundle(value))
    return caught.value.reason


def test_the_sample_is_accepted_as_it_is() -> None:
    assert read_bundle(bundle(STATEMENT)).claims.result == "FAILED"
    assert len(LEAVES) > 140


@pytest.mark.parametrize("path", LEAVES, ids=named)
def test_a_field_that_is_changed_is_found(path: Any) -> None:
    assert refused(changed(STATEMENT, path, other)) == "edited"


@pytest.mark.parametrize("path", LEAVES, ids=named)
def test_a_field_that_is_taken_out_is_found(path: Any) -> None:
    assert refused(without(STATEMENT, path)) == ("unsealed" if path[-1] == "seal" else "edited")


@pytest.mark.parametrize("path", sorted({path[:-1] for path in LEAVES}, key=str), ids=named)
def test_a_field_that_is_added_is_found(path: Any) -> None:
    assert refused(changed(STATEMENT, path, other)) == "edited"


@pytest.mark.parametrize("path", DERIVED, ids=named)
def test_what_follows_from_the_records_cannot_be_changed_and_sealed_anew(path: Any) -> None:
    """But for what ran, which is nowhere else."""
    if path[:3] == ("predicate", "turnproof", "provenance"):
        return
    assert refused(sealed(changed(STATEMENT, path, other))) in ("edited", "unsealed")


@pytest.mark.parametrize("index", range(len(records(sample()))))
def test_a_record_that_is_left_out_and_sealed_anew_is_found(index: int) -> None:
    place = ("predicate", "turnproof", "records")
    assert refused(sealed(without(STATEMENT, (*place, index)))) == "edited"


def test_a_run_without_its_footer_is_incomplete_even_when_all_else_follows() -> None:
    cut = statement_of(records(sample())[:-1], PROVENANCE)
    assert not read_bundle(bundle(cut)).claims.finished


@pytest.mark.parametrize("path", list(leaves(ENVELOPE)), ids=named)
def test_each_field_of_an_envelope_is_signed(path: Any) -> None:
    def tamper(value: str) -> str:
        if path[-1] not in ("payload", "sig"):
            return f"{value}x"
        data = bytearray(base64.b64decode(value))
        data[10] ^= 1
        return base64.b64encode(data).decode()

    with pytest.raises(Refused):
        accept(changed(ENVELOPE, path, tamper))


def accept(value: Any) -> None:
    found = read_bundle(json.dumps(value))
    expect_signed(STATEMENT_TYPE, found.payload, found.signatures, KEY.public)


def test_an_envelope_is_accepted_by_its_key_and_by_no_other() -> None:
    accept(ENVELOPE)
    payload, signatures = opened(ENVELOPE)
    with pytest.raises(Refused, match="not by"):
        expect_signed(STATEMENT_TYPE, payload, signatures, OTHER.public)


def test_an_envelope_with_more_in_it_is_refused() -> None:
    with pytest.raises(Refused):
        accept({**ENVELOPE, "comment": "all is well"})
