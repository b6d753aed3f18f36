"""Calls that are kept for the rollout that they belong to."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from harness.actors import Client, Script
from harness.capture_folder import CaptureReader
from harness.chat import PATH, ask, finish_reasons_of, post
from harness.check import NotMeasured, expect
from harness.exchange import Exchange
from harness.expectations import shown
from harness.fakes.model.script import Answer
from harness.model_calls import expect_answered, given_in, usage_of
from harness.target import Agent
from harness.target_keys import KeyFacts
from harness.telling import beginning

RESPONSES = "/v1/responses"
MEND_SERVED = "take the prefix off, and serve what is left"
MEND_WHOLE = "keep request and answer as they were, whole"
MEND_OWN = "file a call under the id in its own path, and one without an id nowhere"
AT_ONCE = 12


def under(rollout: str, path: str = PATH) -> str:
    """The path of a call that belongs to a rollout."""
    return f"/ng-rollout/{rollout}{path}"


def expect_kept(captures: CaptureReader, label: str, rollout: str, count: int) -> list[dict[str, Any]]:
    """So many calls are kept for a rollout, each with its request and its answer."""
    kept = captures.of(label, rollout, count)
    expect(len(kept) == count, f"{count} captured for rollout {rollout}", f"{len(kept)}", MEND_OWN)
    whole = all(isinstance(call, dict) and "request" in call and "response" in call for call in kept)
    expect(whole, "a request and a response in each captured call", beginning(repr(kept), 500), MEND_WHOLE)
    return kept


@pytest.fixture
def both_ways(
    client: Client, script: Script, nonce: Callable[[str], str], key: KeyFacts, agent: Agent
) -> Callable[..., tuple[Exchange, Exchange]]:
    """The same request without a prefix and under one: both exchanges."""

    def ask_for(rollout: str, **fields: Any) -> tuple[Exchange, Exchange]:
        said = Answer(text=f"Kept: \u00fc {nonce('said')}", reasoning="Let me think.", piece=3)
        if script.reaches("model", "model"):
            script.answer("answer", said, nonce=nonce("asked"))
        body = {
            "model": agent.id,
            "messages": [{"role": "user", "content": nonce("asked")}],
            "max_tokens": 64,
            **fields,
        }
        plain = client.send("plain", post(body), key=key.name)
        return plain, client.send("prefixed", post(body, under(rollout)), key=key.name)

    return ask_for


@pytest.mark.requirement("MS-CAPTURE-1")
@pytest.mark.parametrize("stream", [False, True], ids=["json", "stream"])
def test_a_prefixed_call_is_served_and_kept_whole(
    captures: CaptureReader,
    script: Script,
    nonce: Callable[[str], str],
    both_ways: Callable[..., tuple[Exchange, Exchange]],
    stream: bool,
) -> None:
    """The client sees no difference, and the file holds what went both ways."""
    rollout = f"{nonce('rollout')}.A_1"
    options = {"stream": True, "stream_options": {"include_usage": True}, "user": "\u00fc\u2028"} if stream else {}
    plain, reply = both_ways(rollout, **options)
    text = expect_answered(plain, "a call without a prefix")
    came = expect_answered(reply, "a call under /ng-rollout/<id>")
    if script.reaches("scripted", "model"):
        same = came == text and finish_reasons_of(reply) == finish_reasons_of(plain)
        expect(same, f"the answer {text!r}", shown(reply), MEND_SERVED, reply)
        expect(usage_of(reply) == usage_of(plain), f"{usage_of(plain)}", f"{usage_of(reply)}", MEND_SERVED, reply)
    (kept,) = expect_kept(captures, "kept", rollout, 1)
    sent = reply.request.json()
    expect(kept["request"] == sent, f"the request {sent} in the file", repr(kept["request"]), MEND_WHOLE, reply)
    if not stream:
        whole = reply.json()
        expect(kept["response"] == whole, f"the answer {whole} in the file", repr(kept["response"]), MEND_WHOLE, reply)
        return
    expect_same_message(kept["response"], reply, came)


def choice_in(response: Any) -> dict[str, Any]:
    """The choice of a completion that was kept; empty when it has none, or none was kept."""
    choices = response.get("choices") if isinstance(response, dict) else None
    choice = choices[0] if isinstance(choices, list) and choices else None
    return choice if isinstance(choice, dict) else {}


def message_in(response: Any) -> dict[str, Any]:
    """The message of a completion that was kept; empty when it has none, or none was kept."""
    message = choice_in(response).get("message")
    return message if isinstance(message, dict) else {}


def expect_same_message(response: Any, reply: Exchange, text: str) -> None:
    """What is kept of a stream is the completion that its chunks make together."""
    message = message_in(response)
    reasoning = given_in(reply, "reasoning_content") or given_in(reply, "reasoning")
    usage = response.get("usage") if isinstance(response, dict) else None
    made = {
        "content": (message.get("content") or "", text),
        "reasoning": (message.get("reasoning_content") or message.get("reasoning") or "", reasoning),
        "finish_reason": (choice_in(response).get("finish_reason"), next(iter(finish_reasons_of(reply)), None)),
        "usage": (usage or {}, usage_of(reply)),
    }
    for name, (came, wanted) in made.items():
        expect(came == wanted, f"the stream's {name}, {wanted!r}, in the file", repr(came), MEND_WHOLE, reply)


@pytest.mark.requirement("MS-CAPTURE-1")
def test_a_prefixed_call_of_the_responses_api_is_served_and_kept(
    client: Client,
    captures: CaptureReader,
    script: Script,
    nonce: Callable[[str], str],
    key: KeyFacts,
    agent: Agent,
    expect_answers: Callable[[], None],
) -> None:
    """Where the server speaks that API at all."""
    script.answer("answer", Answer(text=f"Said: {nonce('said')}"), nonce=nonce("asked"))
    body = {"model": agent.id, "input": [{"role": "user", "content": nonce("asked")}]}
    plain = client.send("plain", post(body, RESPONSES), key=key.name)
    expect_answers()
    if plain.status in (404, 405, 501):
        raise NotMeasured("the server has no /v1/responses")
    expect(nonce("said") in plain.text, "the model's word without a prefix", shown(plain), MEND_SERVED, plain)
    reply = client.send("prefixed", post(body, under(nonce("rollout"), RESPONSES)), key=key.name)
    expect(nonce("said") in reply.text, "the model's word under a prefix", shown(reply), MEND_SERVED, reply)
    (kept,) = expect_kept(captures, "kept", nonce("rollout"), 1)
    expect(kept["request"] == body, f"the request {body} in the file", repr(kept["request"]), MEND_WHOLE, reply)
    same = kept["response"] == reply.json()
    expect(same, f"the answer {beginning(reply.text)} in the file", repr(kept["response"]), MEND_WHOLE, reply)


@pytest.mark.requirement("MS-CAPTURE-1")
def test_a_refused_call_is_kept_too(
    client: Client,
    captures: CaptureReader,
    script: Script,
    nonce: Callable[[str], str],
    key: KeyFacts,
    agent: Agent,
    expect_answers: Callable[[], None],
) -> None:
    """A rollout whose calls failed must show it."""
    script.answer("refused", Answer(status=500, message="broken"), nonce=nonce("asked"))
    request = ask(agent.id, nonce("asked"))
    reply = client.send("refused", post(request.json(), under(nonce("rollout"))), key=key.name)
    failed = reply.status is not None and reply.status >= 500
    expect(failed, "an error status for a model that fails", shown(reply), MEND_SERVED, reply)
    (kept,) = expect_kept(captures, "kept", nonce("rollout"), 1)
    same = kept["request"] == request.json()
    expect(same, f"the request {request.json()} in the file", repr(kept["request"]), MEND_WHOLE, reply)
    expect_answers()


@pytest.mark.requirement("MS-CAPTURE-2")
@pytest.mark.parametrize("stream", [False, True], ids=["json", "stream"])
def test_calls_at_once_are_never_kept_under_anothers_id(
    client: Client,
    captures: CaptureReader,
    script: Script,
    nonce: Callable[[str], str],
    key: KeyFacts,
    agent: Agent,
    stream: bool,
) -> None:
    """Ids that look alike, calls that overlap, and among them calls that belong to no rollout."""
    names = [f"call {index}" for index in range(AT_ONCE)]
    # The first id is the beginning of every other one.
    ids = {name: nonce("rollout") + (f"-{index}" if index else "") for index, name in enumerate(names)}
    if script.reaches("model", "model"):
        for name in names:
            script.answer(name, Answer(text=nonce(f"said {name}"), piece=4, pause=0.005), nonce=nonce(name))
    begun = {}
    for name in names:
        body = {"model": agent.id, "messages": [{"role": "user", "content": nonce(name)}], "stream": stream}
        begun[name] = client.begin(name, post(body, under(ids[name])), key=key.name)
        if name in names[::4]:
            loose = ask(agent.id, nonce(f"loose {name}"), stream=stream)
            begun[f"loose {name}"] = client.begin(f"loose {name}", loose, key=key.name)
    for name, call in begun.items():
        expect_answered(call.result(), name)
    for name in names:
        (kept,) = expect_kept(captures, f"kept {name}", ids[name], 1)
        expect(nonce(name) in repr(kept["request"]), f"{name} under its id", beginning(repr(kept["request"])), MEND_OWN)
        filed = captures.holding(f"filed {name}", nonce(name))
        expect(filed == [ids[name]], f"{name} under {ids[name]} alone", f"{filed}", MEND_OWN)
    for name in names[::4]:
        filed = captures.holding(f"filed loose {name}", nonce(f"loose {name}"))
        expect(filed == [], "a call without an id under none", f"{filed}", MEND_OWN)


@pytest.mark.requirement("MS-CAPTURE-2")
def test_calls_of_one_rollout_are_kept_in_their_order(
    client: Client, captures: CaptureReader, nonce: Callable[[str], str], key: KeyFacts, agent: Agent
) -> None:
    """Each turn of a conversation is a line more."""
    for turn in range(3):
        body = ask(agent.id, nonce(f"turn {turn}")).json()
        reply = client.send(f"turn {turn}", post(body, under(nonce("rollout"))), key=key.name)
        expect_answered(reply, f"turn {turn} of a rollout")
    kept = expect_kept(captures, "kept", nonce("rollout"), 3)
    order = [turn for call in kept for turn in range(3) if nonce(f"turn {turn}") in repr(call["request"])]
    expect(order == [0, 1, 2], "the turns in their order", f"{order}", "append a call when it is over")


@pytest.mark.requirement("MS-CAPTURE-3")
def test_a_captured_call_holds_its_tokens(
    captures: CaptureReader,
    nonce: Callable[[str], str],
    both_ways: Callable[..., tuple[Exchange, Exchange]],
) -> None:
    """Ids of prompt and answer, and for each of the answer's a log-probability; of a call that is not streamed."""
    _, reply = both_ways(nonce("rollout"))
    expect_answered(reply, "a call under /ng-rollout/<id>")
    (kept,) = expect_kept(captures, "kept", nonce("rollout"), 1)
    message: Any = message_in(kept["response"])
    prompt, made, probable = (
        message.get(name) for name in ("prompt_token_ids", "generation_token_ids", "generation_log_probs")
    )
    mend = "ask the engine for token ids and log-probabilities, and keep them with the message"
    ids = all(isinstance(found, list) and found and all(type(id_) is int for id_ in found) for found in (prompt, made))
    expect(ids, "prompt_token_ids and generation_token_ids", beginning(repr((prompt, made))), mend, reply)
    each = isinstance(probable, list) and len(probable) == len(made) and all(value <= 0 for value in probable)
    expect(each, "a log-probability for each generated token", beginning(repr(probable)), mend, reply)
    usage = usage_of(reply)
    counted = (len(prompt), len(made)) == (usage.get("prompt_tokens"), usage.get("completion_tokens"))
    expect(not usage or counted, f"as many ids as usage counts, {usage}", f"{len(prompt)}, {len(made)}", mend, reply)
