from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from harness.reference.endpoint.access import accepts, bearer
from harness.reference.endpoint.keys import KeyStore


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "keys.sqlite3"


@pytest.fixture
def store(path: Path) -> Iterator[KeyStore]:
    with closing(KeyStore(str(path))) as opened:
        yield opened


def test_minted_key_is_found_by_its_secret(store: KeyStore) -> None:
    key, secret = store.mint(("a/b", "c"), 60.0, 5)
    assert store.find(secret) == key


def test_secrets_differ(store: KeyStore) -> None:
    assert store.mint(("a",), None, None)[1] != store.mint(("a",), None, None)[1]


def test_unknown_secret_finds_nothing(store: KeyStore) -> None:
    store.mint(("a",), None, None)
    assert store.find("sk-agent-unknown") is None


def test_secret_that_is_not_utf8_finds_nothing(store: KeyStore) -> None:
    assert store.find("\udcff") is None


def test_secret_is_not_in_the_file(store: KeyStore, path: Path) -> None:
    _, secret = store.mint(("a",), None, None)
    stored = b"".join(file.read_bytes() for file in path.parent.iterdir())
    assert secret.encode() not in stored


def test_keys_survive_a_restart(store: KeyStore, path: Path) -> None:
    key, secret = store.mint(("a",), None, None)
    with closing(KeyStore(str(path))) as again:
        assert again.find(secret) == key


def test_list_holds_every_key_in_order(store: KeyStore) -> None:
    minted = [store.mint((name,), None, None)[0] for name in ("a", "b", "c")]
    assert [key.agent_ids for key in store.list()] == [key.agent_ids for key in minted]


def test_revoked_key_is_not_accepted(store: KeyStore) -> None:
    key, secret = store.mint(("a",), None, None)
    store.revoke(key.id)
    found = store.find(secret)
    assert found is not None
    assert not accepts(found, key.created_at)


def test_revoking_an_unknown_key_says_so(store: KeyStore) -> None:
    assert not store.revoke("key_unknown")


@pytest.mark.parametrize(("expires_in", "accepted"), [(None, True), (60.0, True), (0.0, False), (-5.0, False)])
def test_key_with_no_time_left_is_born_expired(store: KeyStore, expires_in: float | None, accepted: bool) -> None:
    key, _ = store.mint(("a",), expires_in, None)
    assert accepts(key, key.created_at) is accepted


def test_key_expires_at_its_time(store: KeyStore) -> None:
    key, _ = store.mint(("a",), 60.0, None)
    assert [accepts(key, key.created_at + age) for age in (59.9, 60.0)] == [True, False]


@pytest.mark.parametrize("header", ["Bearer k", "bearer k", "BEARER   k ", " Bearer k"])
def test_bearer_token_is_read_in_any_case(header: str) -> None:
    assert bearer(header) == "k"


@pytest.mark.parametrize("header", [None, "", "Bearer", "Bearer ", "k", "Basic k", "Bearerk"])
def test_header_without_a_bearer_token_has_none(header: str | None) -> None:
    assert bearer(header) == ""
