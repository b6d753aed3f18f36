from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from harness.agent_endpoint import round_trip
from harness.chat import ask, post
from harness.engine import Engine
from harness.errors import TargetNotReady
from harness.exchange import Hop, Request
from harness.fakes.http import Wire
from harness.fakes.model.script import Rule
from harness.journal import Journal
from harness.launch import Launch
from harness.listener import free_port
from harness.live import LiveTarget
from harness.redaction import Redactor
from harness.target import Agent, Start
from harness.target_keys import FromCommand, FromEnvironment, FromRequest, Key, KeySource
from harness.target_keys import Request as Described
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
            if request.method == "GET":
                answer(wire, 200, {"data": []})
                return
            asked = request.json()["messages"][0]["content"]
            for hop, make in carried:
                journal.record(hop, make(asked)).close("complete")
            answer(wire, *reply(live.rules[0].steps[0].text))

        with serving(engine, handle) as url, (live := Behind(engine, journal, url, {"main": KEY}, 5.0, None)):
            launch = Launch(target_at(url, **changes), live, None, Redactor())
            round_trip(launch, "seed", lambda step, _: said.append(step))
        return said

    return examine


def says(word: str) -> tuple[int, Any]:
    return 200, {"choices": [{"message": {"content": word}}]}


def prompt(text: str) -> Request:
    return prompt_of("house/open/weights-7b", text)


def misnamed(text: str) -> Request:
    return prompt_of("house/tini", text)


def prompt_of(name: str, text: str) -> Request:
    provider, _, model = name.partition("/")
    return post({"model": {"providerID": provider, "modelID": model}, "parts": [text]}, "/session/ses_1/message")


def call(text: str) -> Request:
    return ask("small-1", text)


def of_its_own(_asked: str) -> Request:
    return ask("small-1", "Hello")


def test_word_that_came_round_is_told_step_by_step(examine: Examine) -> None:
    assert examine(says, ("opencode", prompt), ("model", call)) == [
        "its keys work",
        "a nonce made it all the way round",
        "the journals saw it",
    ]


@pytest.mark.parametrize(
    ("reply", "carried", "step", "message"),
    [
        (
            lambda _: (401, {"error": "no"}),
            (),
            "its keys work",
            "the target refused key main: POST /v1/chat/completions answered 401",
        ),
        (
            lambda _: (403, {}),
            (),
            "its keys work",
            "the target refused key main: POST /v1/chat/completions answered 403",
        ),
        (lambda _: (502, {}), (), "a nonce makes it all the way round", "it never reached opencode"),
        (
            lambda _: (200, {}),
            (("opencode", of_its_own),),
            "a nonce makes it all the way round",
            "did not pass the prompt on; opencode answered nothing to POST /v1/chat/completions",
        ),
        (
            lambda _: (200, {}),
            (("opencode", prompt), ("model", of_its_own)),
            "a nonce makes it all the way round",
            "opencode was prompted but did not call the model server; the target answered 200",
        ),
        (
            lambda _: (200, {}),
            (("opencode", prompt), ("model", call)),
            "a nonce makes it all the way round",
            "it reached the model server, and its answer did not come back .*; the target answered 200",
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


def test_model_that_is_not_served_is_named_with_those_that_are(examine: Examine) -> None:
    agents = (Agent("solver", "house", "tiny"),)
    with pytest.raises(TargetNotReady, match=r"prompted for house/tini, and \[\[agents\]\] let it serve house/tiny"):
        examine(lambda _: (502, {}), ("opencode", misnamed), agents=agents)


def test_target_whose_key_has_no_agent_with_a_model_is_not_ready(examine: Examine) -> None:
    with pytest.raises(TargetNotReady, match="no valid key has an agent with a model") as caught:
        examine(says, agents=(Agent("solver", no_model=True),))
    assert caught.value.step == "its keys work"


def test_agent_without_a_model_is_passed_over(examine: Examine) -> None:
    steps = examine(says, ("opencode", prompt), ("model", call), agents=(Agent("a", no_model=True), Agent("solver")))
    assert len(steps) == 3


OTHER = "other-key-0123456789"
ENVIRONMENT, COMMAND, MINT = (
    FromEnvironment("OTHER_KEY"),
    FromCommand(("true",)),
    FromRequest(Described("POST", "/keys", {}), "/key"),
)


def keyed(source: KeySource, **changes: Any) -> dict[str, Any]:
    """A target with a second valid key, which the canned endpoint does not know."""
    main = Key("main", "valid", ("solver",), FromEnvironment("CANNED_KEY"))
    return {"keys": (main, Key("other", "valid", ("solver",), source, **changes))}


@pytest.mark.parametrize(
    ("source", "hint"),
    [
        (ENVIRONMENT, "check that it knows other, which is the value of OTHER_KEY"),
        (COMMAND, "other, which the command of that key prints"),
        (MINT, "other, which mint of that key was answered"),
    ],
    ids=["environment", "command", "request"],
)
def test_valid_key_that_is_refused_is_named_with_where_it_comes_from(
    engine: Engine, source: KeySource, hint: str
) -> None:
    with (
        serving(engine, answering(canned)) as url,
        launch_at(engine, url, secrets={"main": KEY, "other": OTHER}, **keyed(source)) as launch,
        pytest.raises(TargetNotReady, match=r"^the target refused key other: GET /v1/models answered 401") as caught,
    ):
        round_trip(launch, "seed", lambda *_: None)
    assert (caught.value.step, caught.value.exit_code) == ("its keys work", 3)
    assert re.search(hint, caught.value.hint)


def test_key_with_a_rate_cap_is_not_tried(engine: Engine) -> None:
    told: dict[str, str] = {}
    capped = keyed(ENVIRONMENT, rate_cap=1)
    with (
        serving(engine, answering(canned)) as url,
        launch_at(engine, url, secrets={"main": KEY, "other": OTHER}, **capped) as launch,
    ):
        round_trip(launch, "seed", told.__setitem__)
    assert told["its keys work"] == "main, other (not tried: it has a rate cap)"


def test_key_that_is_not_valid_is_not_tried(engine: Engine) -> None:
    told: dict[str, str] = {}
    keys = (*target_at("http://x").keys, Key("past", "expired", ("solver",), ENVIRONMENT))
    with serving(engine, answering(canned)) as url, launch_at(engine, url, keys=keys) as launch:
        round_trip(launch, "seed", told.__setitem__)
    assert told["its keys work"] == "main"


START = Start(("serve", "{port}"), {})


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({}, "nothing of ours is behind this target, which is given by its URL"),
        ({"url": None, "start": START}, r"\[start\] holds none of {opencode_url}, {model_url} and {shims}"),
        ({"url": None, "start": replace(START, env={"PATH": "{shims}"})}, "holds {shims} without {model_url}"),
    ],
    ids=["URL", "start", "shims"],
)
def test_turn_of_a_target_that_cannot_be_watched_is_told_as_no_more_than_answered(
    engine: Engine, changes: dict[str, Any], why: str
) -> None:
    told: dict[str, str] = {}
    with serving(engine, answering(canned)) as url, launch_at(engine, url, **changes) as launch:
        round_trip(launch, "seed", told.__setitem__)
    assert list(told) == ["its keys work", "a turn is answered"]
    assert re.search(f"solver, with the key main, in .*; but no nonce went round: .*{why}", told["a turn is answered"])


@pytest.mark.parametrize(
    "reply", [(502, {}), (200, b""), (200, {}), (200, {"choices": []})], ids=["502", "empty", "no choices", "no choice"]
)
def test_target_that_answers_no_turn_is_not_ready(engine: Engine, reply: tuple[int, Any]) -> None:
    with (
        serving(engine, answering(lambda request: reply if request.method == "POST" else canned(request))) as url,
        launch_at(engine, url) as launch,
        pytest.raises(TargetNotReady, match=f"the agent solver with the key main was answered {reply[0]}: ") as caught,
    ):
        round_trip(launch, "seed", lambda *_: None)
    assert caught.value.step == "a turn is answered"


@pytest.mark.parametrize("reply", [(404, {}), (200, b"<html>"), (500, {}), (200, [])])
def test_server_that_lists_no_models_is_told_as_what_may_not_be_the_endpoint(
    engine: Engine, reply: tuple[int, Any]
) -> None:
    with (
        serving(engine, lambda _, wire: answer(wire, *reply, ("server", "nginx"))) as url,
        launch_at(engine, url) as launch,
        pytest.raises(
            TargetNotReady, match=rf"GET {url}/v1/models .* was answered {reply[0]} \(server: nginx\): "
        ) as caught,
    ):
        round_trip(launch, "seed", lambda *_: None)
    assert "is this the base URL of an OpenAI-compatible endpoint" in caught.value.hint


@pytest.mark.parametrize(
    ("command", "hint"), [(("serve", "{port}"), "see the target's output"), (("serve",), "{port}")]
)
def test_started_target_that_nobody_answers_for_is_hinted_at_its_port_if_it_was_not_told(
    engine: Engine, command: tuple[str, ...], hint: str
) -> None:
    with (
        launch_at(engine, f"http://127.0.0.1:{free_port()}", url=None, start=Start(command, {})) as launch,
        pytest.raises(TargetNotReady, match="was answered nothing") as caught,
    ):
        round_trip(launch, "seed", lambda *_: None)
    assert hint in caught.value.hint
