"""The bodies of answers: a whole completion, and the chunks of a stream."""

from __future__ import annotations

import secrets
import time
from dataclasses import dataclass
from typing import Any

from harness.reference.endpoint.agents import Model
from harness.reference.endpoint.turn import Reply, Usage


@dataclass(frozen=True)
class Frame:
    """What everything in one answer shares; `model` is the id that was asked for."""

    id: str
    created: int
    model: str


def new_frame(asked: str, _model: Model) -> Frame:
    """The frame of an answer to a request for `asked`: the model that the turn runs on is not its concern."""
    return Frame("chatcmpl-" + secrets.token_hex(12), int(time.time()), asked)


def completion(frame: Frame, reply: Reply) -> dict[str, Any]:
    """A `chat.completion`."""
    message = {"role": "assistant", "content": reply.text, "refusal": None}
    choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": reply.finish}
    return {
        "id": frame.id,
        "object": "chat.completion",
        "created": frame.created,
        "model": frame.model,
        "choices": [choice],
        "usage": usage_body(reply.usage),
    }


def chunk(frame: Frame, delta: dict[str, Any], finish: str | None) -> dict[str, Any]:
    """A `chat.completion.chunk` with one choice."""
    return {
        "id": frame.id,
        "object": "chat.completion.chunk",
        "created": frame.created,
        "model": frame.model,
        "choices": [{"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}],
    }


def model_list(models: list[dict[str, Any]]) -> Any:
    """A list of models."""
    return {"object": "list", "data": models}


def usage_body(usage: Usage) -> dict[str, int]:
    """A `usage` object."""
    return {
        "prompt_tokens": usage.prompt,
        "completion_tokens": usage.completion,
        "total_tokens": usage.prompt + usage.completion,
    }
