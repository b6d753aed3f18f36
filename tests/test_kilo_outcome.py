from __future__ import annotations

import json
from typing import Any

import pytest

from harness.exchange import Exchange, Request
from harness.kilo_cli import Ran
from harness.kilo_outcome import complaints, outcome, outline, prompt_of, sent_back, shape, stray_lines

ERROR = {"name": "UnknownError", "data": {"message": "Model not found: m/. Did you mean: a, b?"}}
STEP = {"type": "step-finish", "reason": "stop", "tokens": {"input": 10, "output": 3}, "time": {"start": 5}}


def ran(*lines: Any, stderr: str = "", **more: Any) -> Ran:
    text = "".join(f"{line if isinstance(line, str) else json.dumps(line)}\n" for line in lines)
    return Ran(more.get("status", 0), 1.0, text, stderr)


def call(body: dict[str, Any]) -> Exchange:
    request = Request("POST", "/v1/chat/completions", (), json.dumps(body).encode())
    return Exchange(1, "model", request, 0.0, status=200)


def test_what_differs_between_runs_is_replaced() -> None:
    events = [
        {"type": kind, "timestamp": 5, "sessionID": "ses_a", "part": {**STEP, "id": f"prt_{kind}"}}
        for kind in ("one", "two")
    ]
    kept = outcome(ran(*events), [], {})["events"]
    assert [event["sessionID"] for event in kept] == ["ses_2", "ses_2"]
    assert [event["part"]["id"] for event in kept] == ["prt_1", "prt_3"]
    assert kept[0]["part"]["tokens"] == {"input": "<count>", "output": 3}
    assert kept[0]["timestamp"] == kept[0]["part"]["time"]["start"] == "<time>"


def test_nonces_and_guesses_are_replaced_in_texts() -> None:
    kept = outcome(ran({"type": "error", "error": ERROR}, "word"), [], {"word": "{asked}"})
    assert kept["events"][0]["error"]["data"]["message"] == "Model not found: m/."
    assert kept["stray lines"] == ["{asked}"]


def test_lines_that_are_no_events_are_told_apart() -> None:
    assert stray_lines(ran({"type": "text"}, "plain", "[1]", "{broken")) == ["plain", "[1]", "{broken"]


def test_complaints_are_the_coloured_lines_each_once() -> None:
    line = "\x1b[91m\x1b[1mError: \x1b[0mno model\n"
    assert complaints(ran(stderr=f"starting\n{line}{line}")) == ["no model"]


@pytest.mark.parametrize(
    ("event", "told"),
    [
        ({"type": "text", "part": {"type": "text"}}, "text"),
        ({"type": "text", "part": {"type": "text", "synthetic": True}}, "text synthetic"),
        ({"type": "step_finish", "part": STEP}, "step_finish stop"),
        ({"type": "tool_use", "part": {"tool": "bash", "state": {"status": "error"}}}, "tool_use bash error"),
        ({"type": "error", "error": "no output"}, "error no output"),
        ({"type": "error", "error": ERROR}, f"error UnknownError: {ERROR['data']['message']}"),  # type: ignore[index]
    ],
)
def test_an_event_in_a_few_words(event: dict[str, Any], told: str) -> None:
    assert outline(event) == told


def test_a_shape_keeps_names_and_types() -> None:
    value = {"type": "tool", "n": 1, "f": 0.5, "s": "x", "b": True, "z": None, "l": [{"a": 1}], "input": {"c": 1}}
    assert shape(value) == {
        "type": "tool",
        "n": "number",
        "f": "number",
        "s": "string",
        "b": "boolean",
        "z": "null",
        "l": [{"a": "number"}],
        "input": "object",
    }


def test_a_model_call_is_told_by_its_options_and_sizes() -> None:
    tool = {"type": "function", "function": {"name": "bash"}}
    messages = [
        {"role": "system", "content": "sys"},
        {"role": "user", "content": [{"type": "text", "text": "hello"}, {"text": "<environment_details>"}]},
        {"role": "assistant", "content": "x", "reasoning": "thought", "tool_calls": []},
    ]
    body = {"model": "m", "max_tokens": 5, "messages": messages, "tools": [tool]}
    kept = outcome(ran(), [call(body)], {})["calls"][0]
    assert (kept["model"], kept["max_tokens"], kept["system"], kept["tools"]) == ("m", 5, 3, ["bash"])
    assert kept["prompt"] == ["hello"] == prompt_of(body)
    assert kept["sent back"] == [{"reasoning": "thought"}] == sent_back(body)


def test_of_a_call_without_tools_no_text_is_kept() -> None:
    body = {"model": "m", "messages": [{"role": "user", "content": "a title please"}]}
    assert "prompt" not in outcome(ran(), [call(body)], {})["calls"][0]
