"""What becomes of a request that is larger than the window."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from harness.actors import Client, Script
from harness.chat import ask
from harness.check import Inconclusive, NotMeasured, expect
from harness.exchange import Exchange
from harness.fakes.model.script import Answer
from harness.model_calls import (
    expect_answered,
    expect_context_refusal,
    expect_empty_length,
    expect_served,
    prompt_tokens,
    usage_of,
)
from harness.target import Agent, Facts
from harness.target_keys import KeyFacts
from harness.telling import beginning

FIRST, STEP = 16, 100
"""Words of a prompt, and how many more there are in the next, from which the tokens of a word are told."""

STREAM = pytest.mark.parametrize("stream", [False, True], ids=["json", "stream"])


@dataclass(frozen=True)
class Room:
    """A prompt that nearly fills the window: how many tokens it leaves, and how to ask more or less.

    `ask` sends, under a label, a prompt of so many words more than that one.
    """

    ask: Callable[..., Exchange]
    left: int
    per_word: float

    def words_over(self, tokens: int) -> int:
        """By how many words more the prompt alone is so many tokens over the window, at least."""
        return int((self.left + tokens) / self.per_word) + 1


@pytest.fixture
def window(target: Facts) -> int:
    """The tokens that the target takes in all."""
    if target.window is None:
        raise NotMeasured("the target file does not say how large the window is (window)")
    return target.window


@pytest.fixture
def room(
    client: Client,
    script: Script,
    nonce: Callable[[str], str],
    key: KeyFacts,
    agent: Agent,
    window: int,
) -> Room:
    """A prompt near the window's end, found by the server's own count."""
    if script.reaches("model", "model"):
        script.answer("long answer", Answer(text=f"{nonce('said')} {'and so on ' * 200}"), nonce=nonce("asked"))

    def send(label: str, words: int, **fields: Any) -> Exchange:
        return client.send(label, ask(agent.id, f"{nonce('asked')}{' word' * words}", **fields), key=key.name)

    few = prompt_tokens(send("few words", FIRST, max_tokens=1), "a short prompt")
    more = prompt_tokens(send("more words", FIRST + STEP, max_tokens=1), "a longer prompt")
    per_word = (more - few) / STEP
    if per_word <= 0:
        raise Inconclusive(f"a prompt that is {STEP} words longer counts {more - few} tokens more")
    # What is kept free allows for a count that does not grow quite evenly.
    words = FIRST + int((window - max(24, window // 100) - few) / per_word)
    tokens = prompt_tokens(send("near", words, max_tokens=1), "a prompt that nearly fills the window")
    if tokens >= window:
        raise Inconclusive(f"a prompt of {tokens} tokens was served by a window of {window}")
    return Room(lambda label, more, **fields: send(label, words + more, **fields), window - tokens, per_word)


def expect_policy(exchange: Exchange, policy: str | None, left: int, why: str) -> None:
    """What is larger than the window is treated as declared; where nothing is declared, in one of the three ways."""
    if policy == "error" or (policy is None and exchange.status != 200):
        expect_context_refusal(exchange, why)
    elif policy == "empty_length" or (policy is None and not usage_of(exchange).get("completion_tokens")):
        expect_empty_length(exchange, why)
    else:
        expect_served(exchange, why)
        tokens = usage_of(exchange).get("completion_tokens", 0)
        mend = "cut the limit to what the prompt leaves of the window"
        expect(tokens <= left, f"at most the {left} tokens that are left, for {why}", f"{tokens}", mend, exchange)


@pytest.mark.requirement("MS-WINDOW-1")
@STREAM
def test_a_limit_beyond_the_window_is_treated_as_declared(room: Room, target: Facts, stream: bool) -> None:
    """The prompt would fit, prompt and limit together do not."""
    reply = room.ask("over", 0, max_tokens=room.left + 50, **streaming(stream))
    why = "a prompt and limit 50 tokens over the window"
    expect_policy(reply, target.policies.over_window, room.left, why)


@pytest.mark.requirement("MS-WINDOW-1")
@STREAM
def test_a_prompt_beyond_the_window_is_treated_as_declared(room: Room, target: Facts, stream: bool) -> None:
    """No limit could make it fit: it cannot be cut, so it is refused, or answered empty."""
    reply = room.ask("over", room.words_over(50), max_tokens=1, **streaming(stream))
    policy = target.policies.over_window
    why = "a prompt that is larger than the window"
    if policy == "empty_length" or (policy is None and reply.status == 200):
        expect_empty_length(reply, why)
    else:
        expect_context_refusal(reply, why)


@pytest.mark.requirement("MS-WINDOW-2")
@STREAM
def test_what_fills_the_window_is_served(room: Room, stream: bool) -> None:
    """Prompt and limit are exactly the window."""
    reply = room.ask("exact", 0, max_tokens=room.left, **streaming(stream))
    expect_served(reply, "a prompt and limit that fill the window")


@pytest.mark.requirement("MS-WINDOW-2")
@STREAM
def test_one_token_more_is_treated_as_declared(room: Room, target: Facts, window: int, stream: bool) -> None:
    """One token over is over; where limits are cut, that is so for the prompt alone."""
    policy = target.policies.over_window
    if policy != "clamp":
        reply = room.ask("one over", 0, max_tokens=room.left + 1, **streaming(stream))
        expect_policy(reply, policy, room.left, "a prompt and limit one token over the window")
        return
    last = room.left - 1
    if (tokens := prompt_tokens(room.ask("count", last, max_tokens=1), "a prompt that leaves one token")) != window - 1:
        raise Inconclusive(f"a prompt {last} words longer has {tokens} tokens, not {window - 1}")
    filled = room.ask("last", last, max_tokens=1, **streaming(stream))
    expect_served(filled, "a prompt that leaves one token")
    expect_context_refusal(
        room.ask("one over", room.left + 1, max_tokens=1, **streaming(stream)), "a prompt one token over the window"
    )


def streaming(stream: bool) -> dict[str, Any]:
    """The fields of a request for an answer in pieces, with usage."""
    return {"stream": True, "stream_options": {"include_usage": True}} if stream else {}


@pytest.mark.requirement("MS-WINDOW-3")
@STREAM
@pytest.mark.parametrize("message", ["no such parameter: frequency", "the tool choice is not one of the tools"])
def test_another_refusal_of_the_model_stays_an_error(
    asking: Callable[..., Exchange], expect_answers: Callable[[], None], message: str, stream: bool
) -> None:
    """The model server behind refuses with 400, and not for the request's size."""
    reply = asking("refused", Answer(status=400, message=message), **({"stream": True} if stream else {}))
    expect_error(reply, "a request that the model server refuses")
    expect_answers()


@pytest.mark.requirement("MS-WINDOW-3")
@STREAM
def test_a_request_without_messages_is_an_error(
    client: Client, key: KeyFacts, agent: Agent, expect_answers: Callable[[], None], stream: bool
) -> None:
    """A text is no list of messages."""
    request = ask(agent.id, "", messages="nonsense", **({"stream": True} if stream else {}))
    expect_error(client.send("nonsense", request, key=key.name), "messages that are no list")
    expect_answers()


def expect_error(exchange: Exchange, why: str) -> None:
    """The answer says by its status that nothing was made."""
    failed = exchange.status is not None and exchange.status >= 400
    if not failed:
        expect_answered(exchange, why)
    mend = "keep an error an error: an empty completion is taken for an answer"
    expect(failed, f"an error status for {why}", f"{exchange.status} {beginning(exchange.text)}", mend, exchange)
