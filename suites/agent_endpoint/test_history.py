"""How much of a conversation reaches the model, and in which order."""

from __future__ import annotations

from collections.abc import Callable
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

CONVERSATIONS: dict[str, list[str]] = {
    "one message": ["user"],
    "system first": ["system", "user"],
    "four messages": FOUR,
    "text parts": FOUR,
    "six messages": ["system", "user", "assistant", "user", "assistant", "user"],
    "assistant last": ["user", "assistant"],
    "two users": ["user", "user"],
}


def in_a_string(word: str) -> str:
    """Content as a string."""
    return f"I say {word}."


def in_parts(word: str) -> list[dict[str, Any]]:
    """The same content as a list of text parts."""
    return [{"type": "text", "text": text} for text in ("I say ", f"{word}.")]


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
    words = [nonce(f"{index} {role}") for index, role in enumerate(roles)]
    content = in_parts if case == "text parts" else in_a_string
    messages = [{"role": role, "content": content(word)} for role, word in zip(roles, words, strict=True)]
    last_user = words[max(index for index, role in enumerate(roles) if role == "user")]
    script.answer("answer", Answer(text=nonce("said")), nonce=last_user)
    reply = client.send("ask", post({"model": agent.id, "messages": messages}), key=key.name)
    calls = [call for call in journal.read("model", "model") if last_user.encode() in call.request.body]
    mend = "put the last user message into the prompt"
    expect(bool(calls), "a model call that holds the last user message", "none", mend, reply)
    expect_said(expect_completion(reply, "a conversation"), nonce("said"), reply)
    told = "\n".join(text for _, text in messages_of(calls[0].request.json()))
    heard = sorted((word for word in words if word in told), key=told.index)
    if target.policies.history == "full":
        mend = "pass every message on, each after the one before"
        expect(heard == words, "every message, in the order of the conversation", as_told(told, words), mend, calls[0])
    elif target.policies.history == "last_user":
        mend = "pass on the last user message alone, or declare history = full"
        expect(heard == [last_user], "the last user message alone", as_told(told, words), mend, calls[0])
    elif last_user not in heard:
        raise Inconclusive("the last user message is in the model call, but in none of its messages")


def as_told(told: str, words: list[str]) -> str:
    """Which of the messages were told, in their order."""
    heard = sorted((told.index(word), number) for number, word in enumerate(words) if word in told)
    return f"messages {[number for _, number in heard]} of {len(words)}"
