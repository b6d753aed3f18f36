from __future__ import annotations

import pytest

from harness.reference.kilo.events import (
    Event,
    EventParser,
    Failed,
    Reasoning,
    StepFinish,
    StepStart,
    Text,
    Tokens,
    ToolUse,
    read_event,
    read_tokens,
)
from tests.reference.kilo.lines import FINISH, START, TEXT, THOUGHT, TOOL, TURN, error, line

EVENTS: tuple[tuple[bytes, Event], ...] = (
    (START, StepStart("msg_1")),
    (THOUGHT, Reasoning("prt_1", "msg_1", "hm")),
    (TEXT, Text("prt_2", "msg_1", "größer")),
    (TOOL, ToolUse("prt_3", "msg_1", "call_1", "bash", {"command": "ls"}, "file", failed=False)),
    (FINISH, StepFinish("prt_4", "msg_1", "stop", Tokens(100, 50, 20))),
    (error("no"), Failed("Error", "no")),
    (error({"name": "APIError", "data": {"message": "no", "statusCode": 500}}), Failed("APIError", "no")),
    (error(None), Failed("Error", "null")),
)
BROKEN = (b"", b"kilo: hello", b"[]", b"null", b"7", b"{", b'{"type":"text"}', b'{"type":"text","part":[]}', b"\xff")


@pytest.mark.parametrize(("text", "event"), EVENTS)
def test_a_line_is_an_event(text: bytes, event: Event) -> None:
    assert read_event(text) == event


@pytest.mark.parametrize("text", BROKEN)
def test_what_is_no_event_is_skipped(text: bytes) -> None:
    assert read_event(text) is None


def test_a_failed_tool_has_its_error_for_an_output() -> None:
    state = {"status": "error", "input": {}, "error": "no such file"}
    event = read_event(line({"id": "p", "type": "tool", "callID": "c", "tool": "read", "state": state}))
    assert event == ToolUse("p", "msg_1", "c", "read", {}, "no such file", failed=True)


def test_a_tool_that_runs_still_is_no_event_yet() -> None:
    assert read_event(line({"id": "p", "type": "tool", "state": {"status": "running"}})) is None


@pytest.mark.parametrize("role", ["user", "system", None])
def test_another_role_than_the_assistant_is_skipped(role: str | None) -> None:
    assert read_event(line({"id": "p", "type": "text", "text": "x", "role": role})) is None
    assert read_event(line({"id": "p", "type": "text", "text": "x"}, role=role)) is None


def test_tokens_without_a_total_hold_the_reasoning_in_their_output() -> None:
    assert read_tokens({"input": 100, "output": 50, "reasoning": 20, "cache": {}}) == Tokens(100, 50, 20)


@pytest.mark.parametrize("size", [1, 2, 7, 1000])
def test_events_come_whole_however_the_bytes_are_cut(size: int) -> None:
    data = b"\n".join([b"noise", *TURN])
    parser, found = EventParser(read_event), []
    for at in range(0, len(data), size):
        found += parser.feed(data[at : at + size])
    assert found + parser.close() == [read_event(text) for text in TURN]
