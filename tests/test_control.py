from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from harness import control as control_module
from harness.control import controlled
from harness.engine import Engine
from harness.exchange import Request
from harness.held import held_at
from harness.journal import Journal
from tests.noted_parts import DESCRIPTION, Noted


@pytest.fixture
def address(engine: Engine) -> Iterator[str]:
    with controlled(engine, Noted(), Journal(), DESCRIPTION) as address:
        yield address


def test_address_ends_in_a_word_that_nobody_guesses(address: str, engine: Engine) -> None:
    with controlled(engine, Noted(), Journal(), DESCRIPTION) as other:
        assert len(held_at(address).word) >= 20
        assert held_at(address).word != held_at(other).word


@pytest.mark.parametrize("path", ["", "/", "/attach", "/word", "/word/attach", "/é", "//"])
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_who_does_not_know_the_word_is_told_no_more_than_the_version(address: str, method: str, path: str) -> None:
    answer = httpx.request(method, address.rsplit("/", 1)[0] + path)
    assert (answer.status_code, answer.json()) == (403, {"turnproof": DESCRIPTION.turnproof})


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("POST", "", 404),
        ("GET", "/attach", 404),
        ("POST", "/a/b/c", 404),
        ("DELETE", "/", 404),
        ("POST", "/session/settle", 410),
        ("POST", "/session/leave", 410),
    ],
)
def test_what_there_is_not_is_refused(address: str, method: str, path: str, status: int) -> None:
    answer = httpx.request(method, address + path)
    assert answer.status_code == status
    assert answer.json()["error"]


@pytest.mark.parametrize(
    ("act", "body", "status"), [("nonsense", None, 404), ("model", [{}], 500), ("tap", [{}], 500), ("tap", 5, 500)]
)
def test_act_that_makes_no_sense_is_refused_and_the_hold_stays(address: str, act: str, body: Any, status: int) -> None:
    with httpx.stream("POST", f"{address}/attach") as response:
        lines = response.iter_lines()
        session = next(lines).split('"session": "', 1)[1].split('"', 1)[0]
        assert httpx.post(f"{address}/{session}/{act}", json=body).status_code == status
        assert httpx.post(f"{address}/{session}/settle", json=None).status_code == 200


def test_journal_does_not_grow_without_end_while_no_run_is_there(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(control_module, "_UNHEARD", 10)
    journal = Journal()
    with controlled(engine, Noted(), journal, DESCRIPTION) as address:
        for _ in range(95):
            journal.record("model", Request("GET", "/"))
        assert 0 < len(journal.seen()) <= 10
        with httpx.stream("POST", f"{address}/attach") as response:
            lines = response.iter_lines()
            assert next(lines)
            for _ in range(95):
                journal.record("model", Request("GET", "/"))
            assert len(journal.seen()) == 95
