from __future__ import annotations

from dataclasses import replace

import pytest

from harness.reference.endpoint.envelope import Refusal
from harness.reference.endpoint.keys import Key
from harness.reference.endpoint.rate_cap import RateMeter

KEY = Key("key_1", ("a",), 0.0, None, 2, revoked=False)


def _refused(meter: RateMeter, key: Key, now: float) -> Refusal | None:
    try:
        meter.count(key, now)
    except Refusal as refusal:
        return refusal
    return None


def test_turn_over_the_cap_is_refused() -> None:
    meter = RateMeter()
    refusals = [_refused(meter, KEY, now) for now in (0.0, 1.0, 2.0)]
    assert [refusal and refusal.status for refusal in refusals] == [None, None, 429]


def test_refusal_says_when_to_come_back() -> None:
    meter = RateMeter()
    refusals = [_refused(meter, KEY, now) for now in (0.0, 1.0, 20.5)]
    assert refusals[-1] is not None
    assert refusals[-1].headers == {"retry-after": "40"}


def test_turn_is_forgotten_after_a_minute() -> None:
    meter = RateMeter()
    assert [_refused(meter, KEY, now) for now in (0.0, 30.0, 60.0)] == [None, None, None]


def test_refused_turn_does_not_count() -> None:
    meter = RateMeter()
    for now in (0.0, 1.0, 59.0):
        _refused(meter, KEY, now)
    assert _refused(meter, KEY, 60.5) is None


@pytest.mark.parametrize("other", [replace(KEY, id="key_2"), replace(KEY, rate_cap=None)])
def test_other_keys_are_not_held_up(other: Key) -> None:
    meter = RateMeter()
    for now in (0.0, 1.0):
        meter.count(KEY, now)
    assert [_refused(meter, other, 2.0)] == [None]
