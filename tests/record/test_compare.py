from __future__ import annotations

from typing import Any

from harness.record.compare import differences, outline


def recorded(*events: dict[str, Any]) -> dict[str, Any]:
    stream = {"of": "/event", "beside": [], "sessions": [list(events)]}
    return {"about": "x", "calls": [], "streams": [stream], "model": []}


def message(**info: Any) -> dict[str, Any]:
    return {"type": "message.updated", "properties": {"info": {"id": "msg_1", "role": "assistant", **info}}}


def test_a_recording_does_not_differ_from_itself() -> None:
    assert differences(recorded(message()), recorded(message())) == []


def test_an_event_that_only_one_has_is_a_difference() -> None:
    idle = {"type": "session.idle", "properties": {}}
    assert differences(recorded(idle), recorded()) == ["- session.idle {}"]


def test_only_the_last_state_of_a_message_counts() -> None:
    early = recorded(message(finish="stop"), message(finish="stop"))
    assert differences(early, recorded(message(), message(finish="stop"))) == []


def test_an_outline_tells_how_a_turn_went_and_not_by_which_words() -> None:
    def of(message: str) -> dict[str, Any]:
        status = {"type": "retry", "attempt": 1, "message": message}
        return recorded({"type": "session.status", "properties": {"status": status}})

    assert outline(of("reset")) == outline(of("closed")) == ['{"attempt":1,"type":"retry"}', "0 model calls"]
