"""Tests of `harness.actors.Client.betrayed`: what of the run's secrets an answer holds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from harness.actors import Client, Running
from harness.exchange import Chunk, Exchange, Request
from harness.results import Act
from harness.world import LiveWorld, RecordedWorld

CANARIES = {"the password": "opensesame", "the address": "127.0.0.1:4096"}


class Holder:
    """As much of a running target as `betrayed` uses."""

    def canaries(self) -> Mapping[str, str]:
        return CANARIES


def exchange(body: bytes, *headers: tuple[str, str]) -> Exchange:
    return Exchange(7, "client", Request("GET", "/"), 0.0, status=502, headers=headers, chunks=(Chunk(0.0, body),))


def live(answer: Exchange) -> tuple[list[str], tuple[Act, ...]]:
    world = LiveWorld("check", "seed", lambda _: answer)
    found = Client(world, cast("Running", Holder()), {}).betrayed("secrets", answer)
    return found, tuple(world.acts)


def test_secrets_in_the_body_are_named() -> None:
    assert live(exchange(b"cannot connect to 127.0.0.1:4096 as opensesame"))[0] == ["the password", "the address"]


def test_secrets_in_the_headers_are_named() -> None:
    assert live(exchange(b"", ("via", "127.0.0.1:4096")))[0] == ["the address"]


def test_answer_without_secrets_betrays_nothing() -> None:
    assert live(exchange(b"the agent did not complete its turn"))[0] == []


def test_replay_tells_what_the_live_run_saw_although_its_record_holds_no_secret() -> None:
    _, acts = live(exchange(b"opensesame"))
    redacted = exchange(b"[secret:opencode]")
    recorded: Any = {(act.actor, act.label): act for act in acts}
    world = RecordedWorld("check", "seed", recorded, {7: redacted})
    assert Client(world, None, {}).betrayed("secrets", redacted) == ["the password"]
