"""How much of an answer a server gives: the limit that a request names, and the window that it must fit in."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from harness.fakes.model.script import Answer, Usage
from harness.fakes.model.tokens import pieces

MAX_TOKENS = ("max_completion_tokens", "max_tokens")
"""The names of a request's limit; the first that is there counts."""


@dataclass(frozen=True)
class Size:
    """What a request wants of a window of `window` tokens: its prompt's tokens, and the limit that it names."""

    window: int
    prompt: int
    limit: int | None

    @property
    def total(self) -> int:
        """What must fit: the prompt, with the limit, or with a single token where it names none."""
        return self.prompt + (1 if self.limit is None else self.limit)

    @property
    def left(self) -> int:
        """What the prompt leaves of the window."""
        return self.window - self.prompt


def limit_of(body: Mapping[str, Any], names: Iterable[str] = MAX_TOKENS) -> int | None:
    """The number of tokens that a request allows its answer, under the first of `names` that it has."""
    found = (body.get(name) for name in names)
    return next((value for value in found if isinstance(value, int) and not isinstance(value, bool)), None)


def cut(answer: Answer, limit: int | None) -> Answer:
    """As much of `answer` as `limit` allows: reasoning first, then text, then tool calls, which come whole or not."""
    reasoning, text = pieces(answer.reasoning), pieces(answer.text)
    if limit is None or len(reasoning) + len(text) <= limit:
        return answer
    return replace(
        answer,
        reasoning="".join(reasoning[:limit]),
        text="".join(text[: max(0, limit - len(reasoning))]),
        tool_calls=(),
        finish="length",
    )


def counted(answer: Answer, prompt: int) -> Answer:
    """`answer` with its usage counted, unless the script names one."""
    reasoning = len(pieces(answer.reasoning))
    completion = reasoning + len(pieces(answer.text)) + sum(len(pieces(call.arguments)) for call in answer.tool_calls)
    return replace(answer, usage=answer.usage or Usage(prompt, completion, reasoning))
