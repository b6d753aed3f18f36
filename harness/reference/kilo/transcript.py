"""From events to the items of a Responses API answer: pure."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from harness.reference.kilo.events import Event, Failed, Reasoning, StepFinish, StepStart, Text, ToolUse

Item = dict[str, Any]


def distinct(events: Sequence[Event]) -> tuple[Event, ...]:
    """The events of the assistant, each part once: in its first place, as it was told last.

    A text whose message began no step is a user message that a compaction made.
    """
    begun = {event.message for event in events if isinstance(event, StepStart)}
    kept: dict[object, Event] = {}
    for number, event in enumerate(events):
        if isinstance(event, Text | Reasoning) and begun and event.message not in begun:
            continue
        part = "" if isinstance(event, StepStart | Failed) else event.part
        kept[part or number] = event
    return tuple(kept.values())


def output_items(events: Sequence[Event]) -> list[Item]:
    """The output of a response, in the order in which it came."""
    return [item for event in events for item in _items(event)]


def usage(events: Sequence[Event]) -> Item:
    """The tokens of all steps."""
    steps = [event.tokens for event in events if isinstance(event, StepFinish)]
    read, written = sum(step.input for step in steps), sum(step.output for step in steps)
    return {
        "input_tokens": read,
        "input_tokens_details": {"cached_tokens": 0},
        "output_tokens": written,
        "output_tokens_details": {"reasoning_tokens": sum(step.reasoning for step in steps)},
        "total_tokens": read + written,
    }


def _items(event: Event) -> list[Item]:
    if isinstance(event, Reasoning) and event.text:
        summary = [{"type": "summary_text", "text": event.text}]
        return [{"id": event.part, "type": "reasoning", "summary": summary, "status": "completed"}]
    if isinstance(event, Text) and event.text:
        content = [{"type": "output_text", "text": event.text, "annotations": []}]
        said = {"type": "message", "role": "assistant", "status": "completed", "content": content}
        return [{"id": event.part, **said}]
    if isinstance(event, ToolUse):
        return _tool_items(event)
    return []


def _tool_items(event: ToolUse) -> list[Item]:
    call = {"type": "function_call", "call_id": event.call, "name": event.tool, "arguments": json.dumps(event.input)}
    output = {"type": "function_call_output", "call_id": event.call, "output": event.output}
    status = "incomplete" if event.failed else "completed"
    return [{"id": event.part, **call, "status": "completed"}, {"id": f"{event.part}-out", **output, "status": status}]
