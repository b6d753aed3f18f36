from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from harness.check import Inconclusive, NotMeasured
from harness.exchange import Chunk, Exchange, Hop, Request
from harness.fakes.model.script import Rule
from harness.key_desk import KeyDesk
from harness.minter import Minted, Minter
from harness.redaction import Redactor
from harness.results import Act
from harness.tap_script import TapRule
from harness.target_keys import Listing, Minting
from harness.world import LiveWorld, RecordedWorld

MINTING = Minting("/keys", {}, "/key", listing=Listing("/keys", "/data"))
ANSWERS = {"POST": b'{"key": "sk-minted"}', "GET": b'{"data": [{}, {}]}'}


class _Done:
    def __init__(self, number: int) -> None:
        self._number = number

    def result(self) -> int:
        return self._number

    def leave(self) -> None:
        """Part of `Pending`."""


class _Running:
    """A target that answers at once."""

    def __init__(self, answers: dict[str, bytes]) -> None:
        self.exchanges: list[Exchange] = []
        self._answers = answers

    def begin(self, request: Request, label: str) -> _Done:
        answer = (Chunk(0.0, self._answers[request.method]),)
        number = len(self.exchanges) + 1
        self.exchanges.append(Exchange(number, "client", request, 0.0, label, 200, (), answer, "complete", 0.0))
        return _Done(number)

    def find(self, number: int) -> Exchange:
        return self.exchanges[number - 1]

    def seen(self, hop: Hop) -> tuple[Exchange, ...]:
        return ()

    def wait(self, hop: Hop, until: Callable[[tuple[Exchange, ...]], bool], within: float) -> bool:
        return True

    def calm(self, hop: Hop) -> float:
        raise NotImplementedError

    def observes(self, hop: Hop) -> bool:
        return True

    def use_model_rules(self, rules: tuple[Rule, ...]) -> None:
        """Part of `Running`."""

    def use_tap_rules(self, rules: tuple[TapRule, ...]) -> None:
        """Part of `Running`."""

    def canaries(self) -> Mapping[str, str]:
        return {}

    def open_gate(self, name: str) -> None:
        """Part of `Running`."""

    def through_tap(self) -> str:
        return ""


def _live(
    answers: dict[str, bytes] = ANSWERS, minting: Minting | None = MINTING
) -> tuple[Minter, LiveWorld, Redactor, _Running]:
    running, redactor = _Running(answers), Redactor()
    world = LiveWorld("a check", "seed", running.find)
    desk = KeyDesk(minting, Path(), {}, redactor) if minting else None
    return Minter(world, running, desk, {"main": "sk-main"}), world, redactor, running


def test_a_minted_key_comes_with_its_exchange() -> None:
    minter, _, _, running = _live()
    assert minter.mint("mint", ["a"]) == Minted(running.find(1), "sk-minted", None, None)


def test_a_target_that_describes_no_minting_is_not_measured() -> None:
    minter, *_ = _live(minting=None)
    with pytest.raises(NotMeasured, match=r"add \[mint\]$"):
        minter.mint("mint", ["a"])


def test_what_minting_leaves_out_is_not_measured() -> None:
    minter, *_ = _live()
    with pytest.raises(NotMeasured, match="agent_headers and expiring"):
        minter.mint("mint", ["a"], by="agent", expiring=True)


def test_listed_keys_are_counted() -> None:
    minter, _, _, running = _live()
    assert minter.list("list") == (running.find(1), 2)


def test_a_list_that_is_none_is_inconclusive() -> None:
    minter, *_ = _live({"GET": b"[]"})
    with pytest.raises(Inconclusive, match=r"\[mint.list\]"):
        minter.list("list")


def test_a_store_that_is_not_there_is_inconclusive(tmp_path: Path) -> None:
    minter, *_ = _live(minting=Minting("/keys", {}, "/key", store=str(tmp_path / "nothing")))
    with pytest.raises(Inconclusive, match="nothing at the path"):
        minter.is_stored_in_clear("store", "sk-minted")


def test_a_replay_without_secrets_sees_the_same() -> None:
    minter, world, redactor, _ = _live()
    minter.mint("mint", ["a"])
    acts = json.loads(json.dumps(redactor.redact_json([act.to_json() for act in world.acts])))
    assert "sk-minted" not in json.dumps(acts)
    recorded = {
        (act["actor"], act["label"]): Act(act["check"], act["actor"], act["label"], act["asked"], act["seen"])
        for act in acts
    }
    exchange = Exchange(1, "client", Request("POST", "/keys"), 0.0)
    again = Minter(RecordedWorld("a check", "seed", recorded, {1: exchange}), None, None, {"main": "[secret:key.main]"})
    assert again.mint("mint", ["a"]) == Minted(exchange, "[secret:minted.mint]", None, None)
