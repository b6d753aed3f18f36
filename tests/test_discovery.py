from __future__ import annotations

from typing import Any

import pytest

from harness.discovery import discovered
from harness.engine import Engine
from harness.errors import TargetNotReady, UsageError
from harness.exchange import Request
from harness.listener import free_port
from harness.target import Agent
from harness.target_keys import FromEnvironment, Key
from tests.staging import KEY, answering, serving, target_at

UNKNOWN = (Key("main", "valid", (), FromEnvironment("CANNED_KEY")),)


@pytest.fixture(autouse=True)
def _key_is_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CANNED_KEY", KEY)


def test_agents_are_those_that_are_listed_for_the_key(engine: Engine) -> None:
    def listing(request: Request) -> tuple[int, Any]:
        held = ("authorization", f"Bearer {KEY}") in [(name.lower(), value) for name, value in request.headers]
        return 200, {"data": [{"id": "a"}, {"id": "b/c"}] if held and request.path == "/v1/models" else []}

    with serving(engine, answering(listing)) as url:
        target = discovered(target_at(url, agents=(), keys=UNKNOWN))
    assert target.agents == (Agent("a"), Agent("b/c"))
    assert target.keys[0].agents == ("a", "b/c")


def test_target_that_names_its_agents_is_not_asked() -> None:
    target = target_at(f"http://127.0.0.1:{free_port()}")
    assert discovered(target) is target


@pytest.mark.parametrize(
    ("status", "body", "message"),
    [
        (200, b"<html>", "does not answer with an OpenAI list"),
        (200, [], "does not answer with an OpenAI list"),
        (200, {"data": [{}]}, "does not answer with an OpenAI list"),
        (200, {"data": None}, "does not answer with an OpenAI list"),
        (404, b"not here", "does not answer with an OpenAI list, but with 404: not here"),
        (401, {"error": {}}, "refuses the key: it answered 401: "),
        (200, {"data": []}, "lists no agent for this key"),
    ],
)
def test_answer_that_lists_nothing_is_told(engine: Engine, status: int, body: Any, message: str) -> None:
    with (
        serving(engine, answering(lambda _: (status, body))) as url,
        pytest.raises(TargetNotReady, match=message) as caught,
    ):
        discovered(target_at(url, agents=(), keys=UNKNOWN))
    assert caught.value.step == "its agents are listed"


def test_key_that_an_answer_holds_is_not_told(engine: Engine) -> None:
    with (
        serving(engine, answering(lambda _: (401, KEY.encode()))) as url,
        pytest.raises(TargetNotReady) as caught,
    ):
        discovered(target_at(url, agents=(), keys=UNKNOWN))
    assert KEY not in caught.value.message


def test_closed_port_is_told() -> None:
    with pytest.raises(TargetNotReady, match="refused"):
        discovered(target_at(f"http://127.0.0.1:{free_port()}", agents=(), keys=UNKNOWN))


def test_missing_key_is_a_usage_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CANNED_KEY")
    with pytest.raises(UsageError, match="CANNED_KEY"):
        discovered(target_at("http://unused", agents=(), keys=UNKNOWN))
