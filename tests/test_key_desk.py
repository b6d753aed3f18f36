from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from harness.exchange import Request
from harness.key_desk import By, KeyDesk
from harness.redaction import Redactor
from harness.target_keys import Expiring, Listing, Minting
from harness.target_keys import Request as Described

MINTING = Minting(
    path="/keys",
    headers={"Cookie": "session={env:OWNER}"},
    pointer="/key",
    id_pointer="/id",
    agent_headers={"Authorization": "Bearer {registry_secret}"},
    listing=Listing("/keys", "/data"),
    revoke=Described("DELETE", "/keys/{key_id}", {"X-Why": "{key}"}),
    expiring=Expiring({"ttl": 2}, 2.0),
    store="{work}/db",
)


@pytest.fixture
def redactor(monkeypatch: pytest.MonkeyPatch) -> Redactor:
    monkeypatch.setenv("OWNER", "owner-session")
    return Redactor()


def _desk(redactor: Redactor, folder: Path = Path("/"), **changes: Any) -> KeyDesk:
    values = {"registry_secret": "registry", "work": "w"}
    return KeyDesk(replace(MINTING, **changes), folder, values, redactor)


def _minting_request(desk: KeyDesk, by: By = "owner", **more: Any) -> Request:
    request = desk.mint(["a"], by, **{"expiring": False, **more})
    assert request is not None
    return request


@pytest.mark.parametrize(
    ("by", "header"),
    [("owner", ("Cookie", "session=owner-session")), ("agent", ("Authorization", "Bearer registry"))],
)
def test_a_mint_request_is_of_whom_it_is_for(redactor: Redactor, by: By, header: tuple[str, str]) -> None:
    assert _minting_request(_desk(redactor), by).headers == (header, ("content-type", "application/json"))


def test_nobody_in_particular_shows_nothing(redactor: Redactor) -> None:
    assert _minting_request(_desk(redactor), "nobody").headers == (("content-type", "application/json"),)


def test_a_model_key_is_shown_as_a_token(redactor: Redactor) -> None:
    request = _minting_request(_desk(redactor), "nobody", secret="sk-model")
    assert request.headers[0] == ("authorization", "Bearer sk-model")


@pytest.mark.parametrize(("expiring", "body"), [(False, {"agent_ids": ["a"]}), (True, {"agent_ids": ["a"], "ttl": 2})])
def test_a_mint_request_holds_the_agents_and_the_expiry(
    redactor: Redactor, expiring: bool, body: dict[str, Any]
) -> None:
    request = _minting_request(_desk(redactor), expiring=expiring)
    assert (request.method, request.target, json.loads(request.body)) == ("POST", "/keys", body)


def test_a_revoke_request_names_the_key(redactor: Redactor) -> None:
    assert _desk(redactor).revoke("sk-1", "id-1") == Request(
        "DELETE", "/keys/id-1", (("Cookie", "session=owner-session"), ("X-Why", "sk-1"))
    )


def test_what_is_not_described_cannot_be_asked(redactor: Redactor) -> None:
    desk = _desk(redactor, agent_headers=None, listing=None, revoke=None, expiring=None, store=None)
    asked = [desk.mint(["a"], "agent", expiring=False), desk.mint(["a"], "owner", expiring=True), desk.list()]
    assert [*asked, desk.revoke("sk-1", "id-1"), desk.stored("sk-1"), desk.lifetime] == [None] * 6


def test_a_minted_secret_is_redacted_from_then_on(redactor: Redactor) -> None:
    assert _desk(redactor).minted("mint", {"key": "sk-1", "id": 7}) == ("sk-1", "7")
    assert redactor.redact("Bearer sk-1") == "Bearer [secret:minted.mint]"


@pytest.mark.parametrize("answer", [None, {}, [], {"key": ""}, {"key": 1}, {"error": {"message": "no"}}])
def test_an_answer_without_a_key_has_no_secret(redactor: Redactor, answer: Any) -> None:
    assert _desk(redactor).minted("mint", answer) == (None, None)


def test_the_variables_in_headers_are_secrets(redactor: Redactor) -> None:
    _desk(redactor)
    assert redactor.redact("session=owner-session") == "session=[secret:env:OWNER]"


@pytest.mark.parametrize(("answer", "count"), [({"data": [1, 2]}, 2), ({"data": {}}, None), (None, None)])
def test_the_keys_of_a_list_are_counted(redactor: Redactor, answer: Any, count: int | None) -> None:
    assert _desk(redactor).listed(answer) == count


@pytest.mark.parametrize(
    ("files", "found"),
    [
        ({"w/db": "digest", "w/other": "sk-1"}, "not in clear"),
        ({"w/db": "digest", "w/db-wal": "..sk-1.."}, "in clear"),
        ({"w/db/keys/one": "sk-1"}, "in clear"),
        ({"w/db/keys/one": "digest"}, "not in clear"),
        ({"w/other": "sk-1"}, "no store"),
    ],
)
def test_a_store_is_searched_for_a_secret(
    redactor: Redactor, tmp_path: Path, files: dict[str, str], found: str
) -> None:
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    assert _desk(redactor, tmp_path).stored("sk-1") == found
