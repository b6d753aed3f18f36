"""The Responses API over chat completions, as far as agents of a Gym use it: text, reasoning and function calls."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from harness.fakes.model.script import text_of
from harness.sse import encode

RESPONSES = "/v1/responses"

_STATUS = {"length": "incomplete"}


def as_chat(body: Mapping[str, Any]) -> dict[str, Any]:
    """The chat completions request that a Responses request amounts to."""
    given = body.get("input")
    items = [{"role": "user", "content": given}] if isinstance(given, str) else given
    system = [{"role": "system", "content": body["instructions"]}] if body.get("instructions") else []
    chat: dict[str, Any] = {"model": body.get("model"), "messages": [*system, *_messages(items)]}
    if isinstance(body.get("max_output_tokens"), int):
        chat["max_tokens"] = body["max_output_tokens"]
    tools = [tool for tool in body.get("tools") or () if isinstance(tool, dict) and tool.get("type") == "function"]
    if tools:
        chat["tools"] = [{"type": "function", "function": {k: v for k, v in t.items() if k != "type"}} for t in tools]
    return chat


def _messages(items: Any) -> Iterator[dict[str, Any]]:
    for item in items if isinstance(items, list) else ():
        if not isinstance(item, dict):
            continue
        if item.get("type") == "function_call":
            function = {"name": item.get("name"), "arguments": item.get("arguments")}
            call = {"id": item.get("call_id"), "type": "function", "function": function}
            yield {"role": "assistant", "content": None, "tool_calls": [call]}
        elif item.get("type") == "function_call_output":
            yield {"role": "tool", "tool_call_id": item.get("call_id"), "content": text_of(item.get("output"))}
        elif "role" in item:
            yield {"role": item["role"], "content": text_of(item.get("content"))}


def as_response(completion: Mapping[str, Any]) -> dict[str, Any]:
    """The response that a chat completion amounts to."""
    choice = completion["choices"][0]
    status = _STATUS.get(choice.get("finish_reason"), "completed")
    return {
        "id": f"resp_{completion['id']}",
        "object": "response",
        "created_at": completion.get("created", 0),
        "model": completion["model"],
        "status": status,
        "incomplete_details": {"reason": "max_output_tokens"} if status == "incomplete" else None,
        "error": None,
        "output": list(_output(choice["message"])),
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
        "usage": _usage(completion.get("usage")),
    }


def _output(message: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    reasoning = message.get("reasoning_content") or message.get("reasoning")
    if reasoning:
        yield {"type": "reasoning", "id": "rs_0", "summary": [{"type": "summary_text", "text": reasoning}]}
    tokens = {name: value for name, value in message.items() if name.endswith(("_token_ids", "_log_probs"))}
    if message.get("content"):
        text = {"type": "output_text", "text": message["content"], "annotations": []}
        said = {"type": "message", "id": "msg_0", "role": "assistant", "status": "completed", "content": [text]}
        yield {**said, **tokens}
    for call in message.get("tool_calls") or ():
        function = call["function"]
        made = {"type": "function_call", "id": f"fc_{call['id']}", "call_id": call["id"], "status": "completed"}
        yield {**made, "name": function["name"], "arguments": function["arguments"]}


def _usage(usage: Mapping[str, Any] | None) -> dict[str, Any] | None:
    if usage is None:
        return None
    reasoning = (usage.get("completion_tokens_details") or {}).get("reasoning_tokens", 0)
    cached = (usage.get("prompt_tokens_details") or {}).get("cached_tokens", 0)
    return {
        "input_tokens": usage["prompt_tokens"],
        "input_tokens_details": {"cached_tokens": cached},
        "output_tokens": usage["completion_tokens"],
        "output_tokens_details": {"reasoning_tokens": reasoning},
        "total_tokens": usage["total_tokens"],
    }


def response_events(response: Mapping[str, Any]) -> bytes:
    """The stream of a response that is whole already."""
    begun = {**response, "status": "in_progress", "output": [], "usage": None}
    items = [
        {"type": kind, "output_index": at, "item": item}
        for at, item in enumerate(response["output"])
        for kind in ("response.output_item.added", "response.output_item.done")
    ]
    events = [{"type": "response.created", "response": begun}, *items, {**_end(response), "response": response}]
    return b"".join(_event({**event, "sequence_number": at}) for at, event in enumerate(events))


def _end(response: Mapping[str, Any]) -> dict[str, Any]:
    return {"type": f"response.{response['status']}"}


def _event(event: Mapping[str, Any]) -> bytes:
    return f"event: {event['type']}\n".encode() + encode(event)
