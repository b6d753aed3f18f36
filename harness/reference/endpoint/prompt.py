"""What opencode is told: a conversation as one prompt, since a session's earlier turns cannot be put there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile

from harness.reference.endpoint.chat_request import Message

_SYSTEM = ("system", "developer")


@dataclass(frozen=True)
class Prompt:
    """A prompt's text, and what is added to the agent's system prompt (empty for nothing)."""

    system: str
    text: str


def to_prompt(messages: Sequence[Message]) -> Prompt:
    """The whole conversation in its order: leading system messages apart, then the text.

    A lone user message is passed on as it is, a longer conversation as a transcript with roles.
    """
    leading = list(takewhile(lambda message: message.role in _SYSTEM, messages))
    system = "\n\n".join(message.text for message in leading)
    rest = messages[len(leading) :]
    if len(rest) == 1:
        return Prompt(system, rest[0].text)
    return Prompt(system, "\n\n".join(f"{message.role}: {message.text}" for message in rest))
