from __future__ import annotations

import json
from typing import Any

import pytest

from harness.check import Inconclusive, Nonconformance
from harness.exchange import Exchange
from harness.opencode_calls import expect_unknown_error, ids_in, session_in
from tests.sample_results import exchange


def answered(body: Any, status: int = 200) -> Exchange:
    return exchange(status=status, chunks=(json.dumps(body).encode(),))


@pytest.mark.parametrize(
    ("body", "ids"), [([{"id": "a"}, {"id": "b"}], ["a", "b"]), ({}, []), (7, []), (None, []), ([7], [])]
)
def test_ids_are_those_of_the_objects_in_a_list(body: Any, ids: list[str]) -> None:
    assert ids_in(answered(body)) == ids


def test_session_is_known_by_its_id() -> None:
    assert session_in(answered({"id": "ses_1"})) == "ses_1"


@pytest.mark.parametrize(("body", "status"), [({"id": "ses_1"}, 400), ({"id": 7}, 200), ({}, 200), ([], 200)])
def test_answer_without_a_session_leaves_a_check_inconclusive(body: Any, status: int) -> None:
    with pytest.raises(Inconclusive):
        session_in(answered(body, status))


@pytest.mark.parametrize("data", [None, [], "Unexpected server error"])
def test_error_whose_data_is_no_object_is_a_finding(data: Any) -> None:
    with pytest.raises(Nonconformance):
        expect_unknown_error(answered({"name": "UnknownError", "data": data}, 500))
