from __future__ import annotations

from typing import Any

import pytest

from harness.fakes.model.replayed import assembled, replayed
from harness.sse import parse

CALLS = [
    {"id": f"call_{at}", "type": "function", "function": {"name": name, "arguments": "{}"}}
    for at, name in enumerate(("look", "write"))
]
MESSAGES: dict[str, dict[str, Any]] = {
    "text": {"role": "assistant", "content": "hello\u2028"},
    "nothing": {"role": "assistant", "content": None},
    "reasoning": {"role": "assistant", "content": "so", "reasoning_content": "hm"},
    "other reasoning": {"role": "assistant", "content": "so", "reasoning": "hm"},
    "calls": {"role": "assistant", "content": None, "tool_calls": CALLS},
}


@pytest.mark.parametrize("message", MESSAGES.values(), ids=MESSAGES.keys())
def test_a_completion_that_is_replayed_can_be_assembled_again(message: dict[str, Any]) -> None:
    whole = {
        "id": "c",
        "object": "chat.completion",
        "created": 1,
        "model": "m",
        "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 1, "completion_tokens": 2, "total_tokens": 3},
    }
    assert assembled(event.json() for event in parse(replayed(whole, include_usage=True))) == whole


def test_pieces_of_a_call_are_joined_by_their_index() -> None:
    deltas = [
        {"index": 0, "id": "x", "function": {"name": "look", "arguments": ""}},
        {"index": 1, "id": "y", "function": {"name": "write", "arguments": "["}},
        {"index": 0, "function": {"arguments": "{}"}},
        {"index": 1, "function": {"arguments": "]"}},
    ]
    whole = assembled({"choices": [{"delta": {"tool_calls": [delta]}}]} for delta in deltas)
    assert whole is not None
    calls = whole["choices"][0]["message"]["tool_calls"]
    assert [(call["id"], call["function"]["arguments"]) for call in calls] == [("x", "{}"), ("y", "[]")]


def test_a_stream_without_a_choice_makes_nothing() -> None:
    assert assembled([{"error": {}}, None, "[DONE]"]) is None
