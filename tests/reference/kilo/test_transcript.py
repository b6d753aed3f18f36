from __future__ import annotations

from harness.reference.kilo.events import Event, Reasoning, StepFinish, StepStart, Text, Tokens, ToolUse
from harness.reference.kilo.transcript import distinct, output_items, usage

TOOL = ToolUse("p3", "m1", "c1", "bash", {"command": "ls"}, "file", failed=False)
TURN: tuple[Event, ...] = (
    StepStart("m1"),
    Reasoning("p1", "m1", "hm"),
    TOOL,
    StepFinish("p4", "m1", "tool-calls", Tokens(100, 50, 20)),
    StepStart("m2"),
    Text("p5", "m2", "done"),
    StepFinish("p6", "m2", "stop", Tokens(200, 30, 0)),
)


def test_parts_become_items_in_their_order() -> None:
    items = output_items(TURN)
    assert [item["type"] for item in items] == ["reasoning", "function_call", "function_call_output", "message"]
    assert items[0]["summary"] == [{"type": "summary_text", "text": "hm"}]
    assert (items[1]["call_id"], items[1]["name"], items[1]["arguments"]) == ("c1", "bash", '{"command": "ls"}')
    assert (items[2]["call_id"], items[2]["output"]) == ("c1", "file")
    assert items[3]["content"] == [{"type": "output_text", "text": "done", "annotations": []}]


def test_tokens_of_all_steps_are_added_up() -> None:
    used = usage(TURN)
    assert (used["input_tokens"], used["output_tokens"], used["total_tokens"]) == (300, 80, 380)
    assert used["output_tokens_details"] == {"reasoning_tokens": 20}


def test_a_part_counts_once_with_what_was_told_last() -> None:
    doubled = [event for event in TURN for _ in range(2)]
    assert output_items(distinct(doubled)) == output_items(TURN)
    assert usage(distinct(doubled)) == usage(TURN)
    assert distinct([Text("p", "m", "a"), Text("q", "m", "b"), Text("p", "m", "c")])[0] == Text("p", "m", "c")


def test_a_text_of_a_message_that_began_no_step_is_a_users() -> None:
    assert Text("p9", "m9", "summary") not in distinct((Text("p9", "m9", "summary"), *TURN))
    assert distinct([Text("p9", "m9", "alone")]) == (Text("p9", "m9", "alone"),)


def test_parts_without_an_id_are_all_kept() -> None:
    assert len(distinct([Text("", "", "a"), Text("", "", "b")])) == 2


def test_empty_texts_are_no_items() -> None:
    assert output_items([Text("p", "m", ""), Reasoning("q", "m", "")]) == []
