"""What stands behind a target."""

from __future__ import annotations

import pytest

from harness.errors import UsageError
from harness.far_end import OURS, FarEnd, Provider
from harness.parts import Chain, chained, describe, models_of
from harness.stand_ins import StandIn
from harness.target import Agent
from tests.staging import target_at

KEY = "sk-provider-0123456789"


def test_models_are_named_once_in_their_order() -> None:
    agents = (
        Agent("a", "p", "x/y"),
        Agent("b", "p", "z"),
        Agent("c"),
        Agent("d", "p", "x/y"),
        Agent("e", None, None, True),
    )
    assert models_of(target_at("http://unused", agents=agents)) == [("p", "x/y"), ("p", "z")]


def test_a_key_is_not_shown_with_its_provider() -> None:
    assert KEY not in repr(Chain(StandIn(), FarEnd(provider=Provider("http://a/v1", KEY))))


def test_nothing_is_put_behind_what_starts_its_own_opencode() -> None:
    assert chained(None, OURS) is None
    with pytest.raises(UsageError, match="turnproof does not start its opencode"):
        chained(None, FarEnd(provider=Provider("http://a/v1", KEY)))


def test_a_provider_is_a_part_of_the_chain_without_its_key() -> None:
    wanted = FarEnd(provider=Provider("http://a/v1", KEY, "large-1"))
    parts = describe(Chain(StandIn(), wanted))
    assert [part["name"] for part in parts] == ["opencode stand-in", "provider"]
    assert parts[1] == {"name": "provider", "version": "large-1", "url": "http://a/v1"}
