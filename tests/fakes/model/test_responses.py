from __future__ import annotations

from typing import Any

import pytest

from harness.fakes.model.responses import as_chat, as_response, response_events
from harness.sse import parse


@pytest.mark.parametrize(
    ("given", "messages"),
    [
        ("hello", [{"role": "user", "content": "hello"}]),
        (
            [{"type": "message", "role": "user", "content": [{"type": "input_text", "text": "hello"}]}],
            [{"role": "user", "content": "hello"}],
        ),
        (
            [{"type": "function_call", "call_id": "c", "name": "look", "arguments": "{}"}],
            [
                {
                    "role": "assistant",
                    "content": None,
                    "tool_calls": [{"id": "c", "type": "function", "function": {"name": "look", "arguments": "{}"}}],
                }
            ],
        ),
        (
            [{"type": "function_call_output", "call_id": "c", "output": "seen"}],
            [{"role": "tool", "tool_call_id": "c", "content": "seen"}],
        ),
        ([{"type": "reasoning", "summary": []}, 7], []),
        (None, []),
    ],
)
def test_input_becomes_messages(given: Any, messages: list[Any]) -> None:
    assert as_chat({"model": "m", "input": given})["messages"] == messages


def test_instructions_limit_and_tools_are_passed_on() -> None:
    tool = {"type": "function", "name": "look", "parameters": {}}
    chat = as_chat({"model": "m", "input": "x", "instructions": "be brief", "max_output_tokens": 5, "tools": [tool]})
    assert chat["messages"][0] == {"role": "system", "content": "be brief"}
    assert chat["max_tokens"] == 5
    assert chat["tools"] == [{"type": "function", "function": {"name": "look", "parameters": {}}}]


def completion(finish: str = "stop", **message: Any) -> dict[str, Any]:
    choice = {"index": 0, "message": {"role": "assistant", **message}, "finish_reason": finish}
    usage = {"prompt_tokens": 1, "completion_tokens": 2, "total_tokens": 3}
    return {"id": "c", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice], "usage": usage}


def test_a_message_becomes_output_in_its_order() -> None:
    call = {"id": "x", "type": "function", "function": {"name": "look", "arguments": "{}"}}
    response = as_response(completion(content="so", reasoning_content="hm", tool_calls=[call]))
    assert [item["type"] for item in response["output"]] == ["reasoning", "message", "function_call"]
    assert response["output"][1]["content"][0]["text"] == "so"
    assert (response["usage"]["input_tokens"], response["usage"]["output_tokens"]) == (1, 2)


@pytest.mark.parametrize(("finish", "status"), [("stop", "completed"), ("length", "incomplete")])
def test_a_cut_answer_is_incomplete(finish: str, status: str) -> None:
    response = as_response(completion(finish, content=None))
    assert (response["status"], response["output"]) == (status, [])


def test_a_stream_ends_with_the_whole_response() -> None:
    response = as_response(completion(content="so"))
    events = [event.json() for event in parse(response_events(response))]
    assert [event["type"] for event in events] == [
        "response.created",
        "response.output_item.added",
        "response.output_item.done",
        "response.completed",
    ]
    assert events[-1]["response"] == response
    assert [event["sequence_number"] for event in events] == [0, 1, 2, 3]
