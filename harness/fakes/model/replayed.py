"""Whole completions out of streams, and streams out of whole completions, as servers do that buffer what they say."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from harness.sse import encode

_REASONING = ("reasoning_content", "reasoning")


def replayed(completion: Mapping[str, Any], include_usage: bool) -> bytes:
    """The stream of a completion that is whole already: one delta for each thing that it holds."""
    shared = {name: completion.get(name) for name in ("id", "created", "model")}
    frame = {**shared, "object": "chat.completion.chunk"}
    events = [encode({**frame, "choices": [choice]}) for choice in _deltas(completion["choices"][0])]
    if include_usage and completion.get("usage"):
        events.append(encode({**frame, "choices": [], "usage": completion["usage"]}))
    return b"".join(events) + b"data: [DONE]\n\n"


def _deltas(choice: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    message = choice["message"]
    said = {name: message[name] for name in (*_REASONING, "content") if message.get(name)}
    deltas: list[dict[str, Any]] = [{"role": "assistant"}, *({name: text} for name, text in said.items())]
    if message.get("tool_calls"):
        deltas.append({"tool_calls": [{"index": at, **call} for at, call in enumerate(message["tool_calls"])]})
    for delta in deltas:
        yield {"index": 0, "delta": delta, "finish_reason": None}
    yield {"index": 0, "delta": {}, "finish_reason": choice.get("finish_reason")}


def assembled(chunks: Iterable[Any]) -> dict[str, Any] | None:
    """The completion that a stream's chunks make together, or None when they hold no choice."""
    whole: dict[str, Any] = {"object": "chat.completion"}
    message: dict[str, Any] = {"role": "assistant", "content": None}
    calls: dict[int, dict[str, Any]] = {}
    finish, choices = None, 0
    for chunk in (chunk for chunk in chunks if isinstance(chunk, dict)):
        whole |= {name: chunk[name] for name in ("id", "created", "model", "usage") if chunk.get(name) is not None}
        for choice in chunk.get("choices") or ():
            choices += 1
            delta = choice.get("delta") or {}
            for name in (*_REASONING, "content"):
                if delta.get(name):
                    message[name] = (message.get(name) or "") + delta[name]
            for call in delta.get("tool_calls") or ():
                _add(calls, call)
            finish = choice.get("finish_reason") or finish
    if not choices:
        return None
    if calls:
        message["tool_calls"] = [calls[index] for index in sorted(calls)]
    return {**whole, "choices": [{"index": 0, "message": message, "finish_reason": finish}]}


def _add(calls: dict[int, dict[str, Any]], delta: Mapping[str, Any]) -> None:
    """Put a piece of a tool call to what has come of it."""
    empty = {"id": None, "type": "function", "function": {"name": "", "arguments": ""}}
    call = calls.setdefault(int(delta.get("index", 0)), empty)
    function = delta.get("function") or {}
    call["id"] = delta.get("id") or call["id"]
    call["function"]["name"] = function.get("name") or call["function"]["name"]
    call["function"]["arguments"] += function.get("arguments") or ""
