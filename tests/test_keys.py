from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from harness import keys
from harness.engine import Engine
from harness.errors import TargetNotReady, UsageError
from harness.exchange import Request as Sent
from harness.keys import obtain
from harness.listener import free_port
from harness.target_keys import FromCommand, FromEnvironment, FromRequest, Key, KeySource, Request
from tests.staging import answering, serving, target_at

VARIABLE = "TURNPROOF_TEST_KEY"
MINT = Request("POST", "/keys", {"authorization": "Bearer {owner_secret}"}, {"agents": ["{python}"]})
VALUES = {"owner_secret": "owner", "python": sys.executable}


def have(source: KeySource, url: str = "http://unused", state: str = "valid", **rest: Any) -> dict[str, str]:
    target = target_at(url, keys=(Key("main", state, ("solver",), source, **rest),), folder=Path("/"))
    return dict(obtain(target, {**VALUES, "url": url}))


def printing(program: str) -> FromCommand:
    return FromCommand(("{python}", "-c", program))


Answered = Callable[[Sent], tuple[int, Any]]


@pytest.fixture
def have_from(engine: Engine) -> Callable[..., tuple[dict[str, str], list[Sent]]]:
    """Have a key from an owner's API that answers as given; with what it was asked."""

    def have_from(status: int, body: Any, pointer: str = "/key", **rest: Any) -> tuple[dict[str, str], list[Sent]]:
        asked: list[Sent] = []

        def decide(request: Sent) -> tuple[int, Any]:
            asked.append(request)
            return (status, body) if request.method == "POST" else rest.pop("revoked", (204, b""))

        id_pointer = rest.pop("id_pointer", None)
        changes = {name: rest.pop(name) for name in ("state", "revoke") if name in rest}
        with serving(engine, answering(decide)) as url:
            return have(FromRequest(MINT, pointer, id_pointer), url, **changes), asked

    return have_from


HaveFrom = Callable[..., tuple[dict[str, str], list[Sent]]]


def test_key_is_had_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "secret")
    assert have(FromEnvironment(VARIABLE)) == {"main": "secret"}


@pytest.mark.parametrize("value", [None, ""], ids=["unset", "empty"])
def test_valid_key_without_its_variable_is_a_usage_error_that_names_it(
    monkeypatch: pytest.MonkeyPatch, value: str | None
) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    if value is not None:
        monkeypatch.setenv(VARIABLE, value)
    with pytest.raises(UsageError, match=f"key main: the environment variable {VARIABLE} is not set, or is empty"):
        have(FromEnvironment(VARIABLE))


@pytest.mark.parametrize("state", ["expired", "revoked"])
def test_former_key_without_its_variable_is_left_out(monkeypatch: pytest.MonkeyPatch, state: str) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    assert have(FromEnvironment(VARIABLE), state=state) == {}


def test_key_is_what_a_command_prints() -> None:
    assert have(printing("import sys; print(' secret '); sys.stderr.write('noise')")) == {"main": "secret"}


@pytest.mark.parametrize(
    ("program", "message"),
    [
        ("import sys; sys.exit(3)", "key main: its command ended with status 3"),
        ("print(' ')", "key main: its command printed nothing"),
    ],
)
def test_command_that_gives_no_key_is_told(program: str, message: str) -> None:
    with pytest.raises(TargetNotReady, match=message) as caught:
        have(printing(program))
    assert caught.value.step == "its keys are had"


def test_what_a_failed_command_said_is_kept() -> None:
    with pytest.raises(TargetNotReady) as caught:
        have(printing("import sys; sys.exit('no database')"))
    assert "no database" in caught.value.log


def test_command_that_cannot_be_run_is_told() -> None:
    with pytest.raises(TargetNotReady, match="/no/such: No such file"):
        have(FromCommand(("/no/such",)))


def test_command_that_does_not_end_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keys, "_SECONDS", 0.1)
    with pytest.raises(TargetNotReady, match=r"its command did not end within 0\.1 s"):
        have(printing("import time; time.sleep(600)"))


def test_minting_sends_the_request_with_its_placeholders_filled(have_from: HaveFrom) -> None:
    _, (sent,) = have_from(201, {"key": "secret"})
    assert (sent.method, sent.target, sent.json()) == ("POST", "/keys", {"agents": [sys.executable]})
    assert ("authorization", "Bearer owner") in [(name.lower(), value) for name, value in sent.headers]


@pytest.mark.parametrize(
    ("body", "pointer", "key"),
    [
        ({"key": "secret"}, "/key", "secret"),
        ({"data": [{"value": "no"}, {"value": "yes"}]}, "/data/1/value", "yes"),
        ({"a/b": {"c~d": "slash and tilde"}}, "/a~1b/c~0d", "slash and tilde"),
        ("bare", "", "bare"),
        ({"": "empty name"}, "/", "empty name"),
    ],
)
def test_minted_key_is_found_by_its_pointer(have_from: HaveFrom, body: Any, pointer: str, key: str) -> None:
    assert have_from(200, body, pointer)[0] == {"main": key}


@pytest.mark.parametrize(
    ("body", "pointer"),
    [({}, "/key"), ([], "/0"), (["x"], "/key"), ("x", "/key"), (b"", "/key"), ({"a": {}}, "/a/b")],
)
def test_answer_without_the_key_is_told_with_the_pointer(have_from: HaveFrom, body: Any, pointer: str) -> None:
    with pytest.raises(TargetNotReady, match=f"key main: pointer: the answer has nothing at {pointer}"):
        have_from(200, body, pointer)


@pytest.mark.parametrize("value", [None, "", True, {"a": 1}, ["x"]])
def test_what_is_no_text_is_no_key(have_from: HaveFrom, value: Any) -> None:
    with pytest.raises(TargetNotReady, match="what the answer has at /key is no text"):
        have_from(200, {"key": value})


@pytest.mark.parametrize(
    ("status", "body", "message"),
    [(403, {}, "mint: the target answered 403"), (302, {}, "answered 302"), (200, b"<html>", "mint: Expecting value")],
)
def test_minting_that_fails_is_told(have_from: HaveFrom, status: int, body: Any, message: str) -> None:
    with pytest.raises(TargetNotReady, match=message):
        have_from(status, body)


def test_minting_at_a_closed_port_is_told() -> None:
    with pytest.raises(TargetNotReady, match=r"key main: mint: .*refused"):
        have(FromRequest(MINT, "/key"), f"http://127.0.0.1:{free_port()}")


def test_key_is_revoked_by_its_id_after_it_was_had(have_from: HaveFrom) -> None:
    revoke = Request("DELETE", "/keys/{key_id}", {"x-key": "{key}"})
    had, asked = have_from(200, {"key": "secret", "id": 7}, state="revoked", revoke=revoke, id_pointer="/id")
    assert had == {"main": "secret"}
    assert [(sent.method, sent.target) for sent in asked] == [("POST", "/keys"), ("DELETE", "/keys/7")]
    assert ("x-key", "secret") in asked[1].headers


def test_revoking_that_fails_is_told(have_from: HaveFrom) -> None:
    with pytest.raises(TargetNotReady, match="key main: revoke: the target answered 500"):
        have_from(200, {"key": "s"}, state="revoked", revoke=Request("DELETE", "/keys", {}), revoked=(500, {}))


def test_placeholder_without_a_value_is_a_usage_error() -> None:
    with pytest.raises(UsageError, match="opencode_url"):
        have(FromCommand(("{opencode_url}",)))


def test_minted_key_is_known_even_if_it_cannot_be_revoked(engine: Engine) -> None:
    def decide(request: Sent) -> tuple[int, Any]:
        return (200, {"key": "secret"}) if request.method == "POST" else (500, {})

    known: dict[str, str] = {}
    with serving(engine, answering(decide)) as url:
        source = FromRequest(MINT, "/key")
        key = Key("main", "revoked", ("solver",), source, Request("DELETE", "/keys", {}))
        obtaining = obtain(target_at(url, keys=(key,)), {**VALUES, "url": url})
        known.update([next(obtaining)])
        with pytest.raises(TargetNotReady):
            next(obtaining)
    assert known == {"main": "secret"}


def test_command_that_prints_without_an_end_is_ended() -> None:
    with pytest.raises(TargetNotReady, match="key main: its command was killed by SIGXFSZ"):
        have(FromCommand(("yes",)))
