"""How much of a conversation reaches the model, and in which order."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from harness.actors import Client, JournalReader, Script
from harness.chat import post
from harness.check import Inconclusive, expect
from harness.expectations import expect_completion, expect_said
from harness.fakes.model.script import Answer, messages_of
from harness.target import Agent, Facts
from harness.target_keys import KeyFacts

FOUR = ["system", "user", "assistant", "user"]
SYSTEM_LATER = "system later"

CONVERSATIONS: dict[str, list[str]] = {
    "one message": ["user"],
    "system first": ["system", "user"],
    "four messages": FOUR,
    "text parts": FOUR,
    "six messages": ["system", "user", "assistant", "user", "assistant", "user"],
    "assistant last": ["user", "assistant"],
    "two users": ["user", "user"],
    "two systems": ["system", "system", "user"],
    SYSTEM_LATER: ["system", "user", "assistant", "system", "user"],
}


def in_a_string(words: Sequence[str]) -> str:
    """Content as a string."""
    return "".join(map(_said, words))


def in_parts(words: Sequence[str]) -> list[dict[str, Any]]:
    """The same content as a list of text parts, one for each word."""
    return [{"type": "text", "text": _said(word)} for word in words]


def _said(word: str) -> str:
    return f"I say {word}. "


@pytest.mark.requirement("AE-TURN-4")
@pytest.mark.parametrize("case", CONVERSATIONS)
def test_the_conversation_reaches_the_model_as_declared(
    client: Client,
    script: Script,
    journal: JournalReader,
    nonce: Callable[[str], str],
    target: Facts,
    key: KeyFacts,
    agent: Agent,
    case: str,
) -> None:
    """Whole and in its order, or its last user message alone; where nothing is declared, that message at least."""
    roles = CONVERSATIONS[case]
    spoken = [[nonce(f"{index} {role} {part}") for part in ("begins", "ends")] for index, role in enumerate(roles)]
    content = in_parts if case == "text parts" else in_a_string
    messages = [{"role": role, "content": content(words)} for role, words in zip(roles, spoken, strict=True)]
    last_user = spoken[max(index for index, role in enumerate(roles) if role == "user")]
    words = [word for each in spoken for word in each]
    script.answer("answer", Answer(text=nonce("said")), nonce=last_user[-1])
    reply = client.send("ask", post({"model": agent.id, "messages": messages}), key=key.name)
    calls = [call for call in journal.read("model", "model") if last_user[-1].encode() in call.request.body]
    mend = "put the last user message into the prompt"
    expect(bool(calls), "a model call that holds the last user message", "none", mend, reply)
    expect_said(expect_completion(reply, "a conversation"), nonce("said"), reply)
    told = "\n".join(text for _, text in messages_of(calls[0].request.json()))
    heard = sorted((word for word in words if word in told), key=told.index)
    if target.policies.history == "full":
        mend = "pass every message on, each after the one before"
        whole = heard == words or (case == SYSTEM_LATER and heard == system_first(roles, spoken))
        expect(whole, "every message, in the order of the conversation", as_told(told, words), mend, calls[0])
    elif target.policies.history == "last_user":
        mend = "pass on the last user message alone, or declare history = full"
        expect(heard == last_user, "the last user message alone", as_told(told, words), mend, calls[0])
    elif not set(last_user) <= set(heard):
        raise Inconclusive("the last user message is in the model call, but in none of its messages")


def system_first(roles: Sequence[str], spoken: Sequence[Sequence[str]]) -> list[str]:
    """The words of a conversation whose later system messages are put with the first: models may want it so."""
    pairs = sorted(zip(roles, spoken, strict=True), key=lambda pair: pair[0] != "system")
    return [word for _, words in pairs for word in words]


def as_told(told: str, words: Sequence[str]) -> str:
    """Which of the words were told, in their order; there are two in a message."""
    heard = sorted((told.index(word), number) for number, word in enumerate(words) if word in told)
    return f"words {[number for _, number in heard]} of {len(words)}, two in each message"
