from __future__ import annotations

from typing import Any

import pytest

from harness.errors import HarnessError
from harness.exchange import Exchange, Request
from harness.results import Act
from harness.world import (
    LiveWorld,
    RecordedWorld,
    ReplayMismatch,
    apply_view,
    derive_nonce,
    nonces_in,
    view,
)
from tests.sample_results import exchange

EXCHANGE = exchange(7, chunks=[b"one", b"two", b"three"])


def live() -> LiveWorld:
    return LiveWorld("c", "seed", {7: EXCHANGE}.__getitem__)


def replayed(*acts: Act) -> RecordedWorld:
    return RecordedWorld("c", "seed", {(act.actor, act.label): act for act in acts}, {7: EXCHANGE})


def unreachable() -> Any:
    raise AssertionError("a replay performs nothing")


def test_nonce_is_the_same_whenever_it_is_asked_for() -> None:
    assert derive_nonce("seed", "check", "label") == derive_nonce("seed", "check", "label")


@pytest.mark.parametrize("other", [("seed2", "c", "l"), ("seed", "c2", "l"), ("seed", "c", "l2"), ("seed", "cl", "")])
def test_nonce_depends_on_seed_check_and_label(other: tuple[str, str, str]) -> None:
    assert derive_nonce("seed", "c", "l") != derive_nonce(*other)


def test_nonces_are_found_in_bytes() -> None:
    one, two = derive_nonce("s", "c", "1"), derive_nonce("s", "c", "2")
    assert nonces_in(f'{{"a":"{one}{two}","b":"tpaaa"}}'.encode() + b"\xff") == {one, two}


def test_live_and_recorded_world_derive_the_same_nonce() -> None:
    assert live().nonce("asked") == replayed().nonce("asked")


def test_live_world_knows_the_nonces_that_it_gave() -> None:
    world = live()
    assert world.nonces == set()
    given = world.nonce("asked")
    assert world.nonces == {given}


def test_live_world_keeps_what_was_asked_and_seen() -> None:
    world = live()
    assert world.act("client", "send", {"a": 1}, lambda: {"exchange": 7}) == {"exchange": 7}
    assert world.acts == [Act("c", "client", "send", {"a": 1}, {"exchange": 7})]


def test_label_used_twice_is_an_error_that_names_check_and_label() -> None:
    world = live()
    world.act("client", "send", 1, lambda: 1)
    with pytest.raises(HarnessError, match="c: the client has used the label 'send' before"):
        world.act("client", "send", 1, unreachable)


def test_label_of_another_actor_may_be_the_same() -> None:
    world = live()
    world.act("client", "ask", 1, lambda: 1)
    assert world.act("script", "ask", 2, lambda: 2) == 2


def test_act_that_fails_is_not_kept() -> None:
    world = live()
    with pytest.raises(ZeroDivisionError):
        world.act("client", "send", 1, lambda: 1 / 0)
    assert world.acts == []


def test_recorded_world_shows_what_was_seen_and_performs_nothing() -> None:
    assert replayed(Act("c", "clock", "wait", 2.0, None)).act("clock", "wait", 2.0, unreachable) is None


def test_tuples_are_asked_as_the_lists_that_json_makes_of_them() -> None:
    assert replayed(Act("c", "a", "l", [["x", 1]], "seen")).act("a", "l", (("x", 1),), unreachable) == "seen"


def test_act_that_is_not_on_record_is_a_mismatch() -> None:
    with pytest.raises(ReplayMismatch, match="no act 'later' of the client"):
        replayed(Act("c", "client", "send", 1, 1)).act("client", "later", 1, unreachable)


def test_act_that_asks_something_else_is_a_mismatch() -> None:
    with pytest.raises(ReplayMismatch, match="the client asked something else at 'send'"):
        replayed(Act("c", "client", "send", 1, 1)).act("client", "send", 2, unreachable)


def test_exchange_that_is_not_on_record_is_a_mismatch() -> None:
    with pytest.raises(ReplayMismatch, match="lacks exchange 8"):
        replayed().exchange(8)


@pytest.mark.parametrize(
    "seen",
    [
        Exchange(7, "client", Request("GET", "/"), 0.5),
        exchange(7, chunks=[b"one"], end="open"),
        exchange(7, chunks=[b"one", b"two", b"three"], end="cut"),
    ],
    ids=["nothing yet", "half", "all"],
)
def test_view_of_an_exchange_is_restored_from_the_whole_one(seen: Exchange) -> None:
    restored = apply_view(EXCHANGE, view(seen))
    assert view(restored) == view(seen)
    assert (restored.body, restored.headers) == (seen.body, seen.headers)
