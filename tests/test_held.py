from __future__ import annotations

import time
from typing import Any

import pytest

from harness.engine import Engine
from harness.errors import UsageError
from harness.held import HeldParts, held_at
from harness.listener import free_port
from tests.noted_parts import DESCRIPTION
from tests.staging import answering, serving


def asked(engine: Engine, status: int = 200, **changes: Any) -> HeldParts:
    """What is held, as a control says that answers so."""
    told = {**DESCRIPTION.to_json(), "now": time.monotonic(), **changes}
    with serving(engine, answering(lambda _: (status, {**told, "now": changes.get("now", time.monotonic())}))) as url:
        return held_at(f"{url}/word")


def test_what_is_held_is_told_by_its_control(engine: Engine) -> None:
    held = asked(engine)
    assert (held.description, held.word) == (DESCRIPTION, "word")


def test_a_slash_at_the_end_of_the_address_makes_no_difference(engine: Engine) -> None:
    told = {**DESCRIPTION.to_json(), "now": 0.0}
    with serving(engine, answering(lambda _: (200, {**told, "now": time.monotonic()}))) as url:
        assert held_at(f"{url}/word/").address == f"{url}/word"


def test_what_is_held_is_named_without_its_secret_word(engine: Engine) -> None:
    assert "word" not in str(asked(engine))


@pytest.mark.parametrize(
    "address",
    [
        "",
        "word",
        "127.0.0.1:4000/word",
        "http://127.0.0.1/word",
        "http://127.0.0.1:4000",
        "http://127.0.0.1:4000/",
        "http://127.0.0.1:4000/word?x",
        "http://127.0.0.1:x/word",
        "http://me@127.0.0.1:4000/word",
        "http://[::1/word",
        "https://127.0.0.1:4000/word",
    ],
)
def test_what_is_not_shaped_like_a_control_address_is_refused(address: str) -> None:
    with pytest.raises(UsageError, match="is not a control address"):
        held_at(address)


def test_closed_port_is_told() -> None:
    with pytest.raises(UsageError, match="no control answers at") as caught:
        held_at(f"http://127.0.0.1:{free_port()}/word")
    assert "turnproof up" in caught.value.hint


@pytest.mark.parametrize("body", [b"<html>", [], {"object": "list"}, "turnproof"], ids=repr)
def test_server_that_is_no_control_is_told(engine: Engine, body: Any) -> None:
    with serving(engine, answering(lambda _: (200, body))) as url, pytest.raises(UsageError, match="is no control"):
        held_at(f"{url}/word")


def test_server_that_says_nothing_of_http_is_told(engine: Engine) -> None:
    with serving(engine, lambda _, wire: wire.reset()) as url, pytest.raises(UsageError, match="no control answers"):
        held_at(f"{url}/word")


def test_another_version_is_told_with_both(engine: Engine) -> None:
    with pytest.raises(UsageError, match=r"held by turnproof 0\.0\.1, and this is \d"):
        asked(engine, turnproof="0.0.1")


def test_another_version_is_told_whatever_else_it_says(engine: Engine) -> None:
    with (
        serving(engine, answering(lambda _: (404, {"turnproof": "99.0"}))) as url,
        pytest.raises(UsageError, match=r"held by turnproof 99\.0"),
    ):
        held_at(f"{url}/word")


def test_wrong_word_is_told_and_not_repeated(engine: Engine) -> None:
    with pytest.raises(UsageError, match="the secret word in the control address is not that of") as caught:
        asked(engine, 403)
    assert "/word" not in caught.value.message


@pytest.mark.parametrize("now", [0.0, 1e12])
def test_clock_of_another_machine_is_told(engine: Engine, now: float) -> None:
    with pytest.raises(UsageError, match="another clock"):
        asked(engine, now=now)
