from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from harness import doctor
from harness.chat import ask
from harness.engine import Engine
from harness.errors import TargetNotReady
from harness.exchange import Hop, Request
from harness.fakes.http import Wire
from harness.fakes.model.script import Rule
from harness.journal import Journal
from harness.launch import Launch
from harness.live import LiveTarget
from harness.redaction import Redactor
from harness.target import Agent
from tests.staging import KEY, answer, answering, canned, launch_at, serving, target_at

Steps = list[str]


class Behind(LiveTarget):
    """A target that claims to have our parts behind it; `rules` are what the model server was told to say."""

    rules: tuple[Rule, ...] = ()

    def observes(self, hop: Hop) -> bool:
        return True

    def use_model_rules(self, rules: tuple[Rule, ...]) -> None:
        self.rules = rules


Examine = Callable[..., Steps]


@pytest.fixture
def examine(engine: Engine) -> Examine:
    """Send the doctor's prompt to a target that says `reply`, having carried `carried` to hops behind it."""

    def examine(
        reply: Callable[[str], tuple[int, Any]], *carried: tuple[Hop, Callable[[str], Request]], **changes: Any
    ) -> Steps:
        journal, said = Journal(), []

        def handle(request: Request, wire: Wire) -> None:
            asked = request.json()["messages"][0]["content"]
            for hop, make in carried:
                journal.record(hop, make(asked)).close("complete")
            answer(wire, *reply(live.rules[0].steps[0].text))

        with serving(engine, handle) as url, (live := Behind(engine, journal, url, {"main": KEY}, 5.0, None)):
            launch = Launch(target_at(url, **changes), live, None, Redactor())
            doctor.round_trip(launch, "seed", lambda step, _: said.append(step))
        return said

    return examine


def says(word: str) -> tuple[int, Any]:
    return 200, {"choices": [{"message": {"content": word}}]}


def prompt(text: str) -> Request:
    return Request("POST", "/session/ses_1/message", (), text.encode())


def call(text: str) -> Request:
    return ask("small-1", text)


def of_its_own(_asked: str) -> Request:
    return ask("small-1", "Hello")


def test_word_that_came_round_is_told_step_by_step(examine: Examine) -> None:
    assert examine(says, ("opencode", prompt), ("model", call)) == [
        "a key works",
        "a nonce made it all the way round",
        "the journals saw it",
    ]


@pytest.mark.parametrize(
    ("reply", "carried", "step", "message"),
    [
        (lambda _: (401, {"error": "no"}), (), "a key works", "key main was refused: 401"),
        (lambda _: (403, {}), (), "a key works", "key main was refused: 403"),
        (lambda _: (502, {}), (), "a nonce makes it all the way round", "it never reached opencode"),
        (
            lambda _: (200, {}),
            (("opencode", of_its_own),),
            "a nonce makes it all the way round",
            "did not pass the prompt on",
        ),
        (
            lambda _: (200, {}),
            (("opencode", prompt), ("model", of_its_own)),
            "a nonce makes it all the way round",
            "opencode was prompted but did not call the model server",
        ),
        (
            lambda _: (200, {}),
            (("opencode", prompt), ("model", call)),
            "a nonce makes it all the way round",
            "it reached the model server, and its answer did not come back; the target answered 200",
        ),
        (says, (), "the journals saw it", "the prompt passed none of our journals"),
        (says, (("opencode", prompt),), "the journals saw it", "the prompt passed none of our journals"),
    ],
)
def test_step_at_which_the_word_was_lost_is_named(
    examine: Examine, reply: Any, carried: Any, step: str, message: str
) -> None:
    with pytest.raises(TargetNotReady, match=message) as caught:
        examine(reply, *carried)
    assert (caught.value.step, caught.value.exit_code) == (step, 3)


def test_target_whose_key_has_no_agent_with_a_model_is_not_ready(examine: Examine) -> None:
    with pytest.raises(TargetNotReady, match="no valid key has an agent with a model") as caught:
        examine(says, agents=(Agent("solver", no_model=True),))
    assert caught.value.step == "a key works"


def test_agent_without_a_model_is_passed_over(examine: Examine) -> None:
    steps = examine(says, ("opencode", prompt), ("model", call), agents=(Agent("a", no_model=True), Agent("solver")))
    assert len(steps) == 3


def test_without_our_parts_behind_only_the_key_is_proved(engine: Engine) -> None:
    told: dict[str, str] = {}
    with serving(engine, answering(canned)) as url, launch_at(engine, url) as launch:
        doctor.round_trip(launch, "seed", told.__setitem__)
    assert list(told) == ["a key works"]
    assert "no round trip can be proved" in told["a key works"]


@pytest.mark.parametrize("reply", [(401, {}), (200, b"<html>"), (500, {}), (200, [])])
def test_key_that_does_not_list_the_models_is_told(engine: Engine, reply: tuple[int, Any]) -> None:
    with (
        serving(engine, answering(lambda _: reply)) as url,
        launch_at(engine, url) as launch,
        pytest.raises(TargetNotReady, match="GET /v1/models answered") as caught,
    ):
        doctor.round_trip(launch, "seed", lambda *_: None)
    assert caught.value.step == "a key works"
