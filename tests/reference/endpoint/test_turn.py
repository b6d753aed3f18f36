from __future__ import annotations

from typing import Any

import pytest

from harness.reference.endpoint.turn import Delta, Failure, Question, Reply, Retracted, Step, Turn, Usage
from tests.reference.endpoint.events import (
    SESSION,
    Event,
    answer,
    assistant,
    delta,
    error,
    event,
    idle,
    opened,
    part,
    status,
    summary,
    text,
    tokens,
    turn,
    user,
)


def _feed(*events: Event | list[Event]) -> list[Step]:
    """All steps up to the outcome, as the driver takes them."""
    machine = Turn(SESSION)
    steps: list[Step] = []
    for item in events:
        for one in item if isinstance(item, list) else [item]:
            for step in machine.feed(one):
                steps.append(step)
                if isinstance(step, Reply | Failure):
                    return steps
    return steps


def _outcome(*events: Event | list[Event]) -> Step | None:
    steps = _feed(*events)
    return steps[-1] if steps and isinstance(steps[-1], Reply | Failure) else None


def _text(*events: Event | list[Event]) -> str:
    outcome = _outcome(*events)
    assert isinstance(outcome, Reply), outcome
    return outcome.text


def _said(steps: list[Step]) -> list[str]:
    return [step.text for step in steps if isinstance(step, Delta)]


BUSY = [user(), status("busy")]
OVERFLOW = error("ContextOverflowError")
COMPACTION = [
    event("message.updated", info={"id": "msg_c", "role": "user"}),
    part("msg_c", "prt_c", "compaction", auto=True),
    summary("msg_s"),
    opened("msg_s", "prt_s"),
    delta("msg_s", "prt_s", "a summary"),
    text("msg_s", "prt_s", "a summary"),
    tokens("msg_s", "prt_sf", "stop", input=500, output=9),
    summary("msg_s", "stop"),
    event("message.updated", info={"id": "msg_n", "role": "user"}),
    event("session.compacted"),
]


def test_normal_turn_replies_with_its_text() -> None:
    assert _outcome(turn(answer("hello"))) == Reply("hello", "stop", Usage(10, 2))


def test_deltas_are_handed_out_as_they_come() -> None:
    steps = _feed(BUSY, assistant("a"), opened("a", "t"), delta("a", "t", "he"), delta("a", "t", "llo"))
    assert steps == [Delta("he"), Delta("llo")]


def test_whole_text_adds_nothing_to_deltas_that_were_complete() -> None:
    assert _said(_feed(turn(answer("hello")))) == ["hello"]


def test_whole_text_supplies_what_deltas_lacked() -> None:
    steps = _feed(BUSY, assistant("a"), opened("a", "t"), delta("a", "t", "he"), text("a", "t", "hello"))
    assert _said(steps) == ["he", "llo"]


def test_text_without_any_delta_is_the_answer() -> None:
    megabyte = "x" * 2**20
    assert _text(BUSY, assistant("a"), text("a", "t", megabyte), assistant("a", "stop"), idle()) == megabyte


def test_text_that_differs_from_what_was_said_is_a_retraction() -> None:
    steps = _feed(BUSY, assistant("a"), opened("a", "t"), delta("a", "t", "one"), text("a", "t", "two"))
    assert steps == [Delta("one"), Retracted(), Delta("two")]


def test_delta_before_its_part_is_known_waits_for_it() -> None:
    steps = _feed(BUSY, assistant("a"), delta("a", "t", "early"), opened("a", "t"), delta("a", "t", "!"))
    assert _said(steps) == ["early", "!"]


def test_delta_before_its_message_is_known_waits_for_it() -> None:
    steps = _feed(BUSY, opened("a", "t"), delta("a", "t", "early"), assistant("a"))
    assert _said(steps) == ["early"]


def test_reasoning_is_never_text_although_its_deltas_say_so() -> None:
    thought = [opened("a", "r", "reasoning"), delta("a", "r", "hmm"), part("a", "r", "reasoning", text="hmm")]
    steps = _feed(BUSY, assistant("a"), thought, text("a", "t", "42"), assistant("a", "stop"), idle())
    assert steps == [Delta("42"), Reply("42", "stop", Usage(0, 0))]


def test_deltas_of_other_fields_are_not_text() -> None:
    steps = _feed(BUSY, assistant("a"), opened("a", "t"), delta("a", "t", "x", field="metadata"))
    assert steps == []


def test_user_text_is_not_the_answer() -> None:
    assert _text(BUSY, text("msg_u", "p", "the question"), answer("the answer"), idle()) == "the answer"


def test_two_text_parts_of_a_message_are_joined() -> None:
    assert _text(
        BUSY, assistant("a"), text("a", "t", "one "), text("a", "u", "two"), assistant("a", "stop"), idle()
    ) == ("one two")


def test_answer_after_tool_steps_is_the_last_message() -> None:
    assert _text(turn(answer("let me look", "a", "tool-calls"), answer("found", "b"))) == "found"


def test_text_of_earlier_steps_is_handed_out_too() -> None:
    assert _said(_feed(turn(answer("let me look", "a", "tool-calls"), answer("found", "b")))) == [
        "let me look",
        "found",
    ]


@pytest.mark.parametrize(
    ("finish", "shown"),
    [("stop", "stop"), ("length", "length"), ("content-filter", "content_filter"), ("other", "stop")],
)
def test_final_finish_reasons_are_those_of_the_api(finish: str, shown: str) -> None:
    outcome = _outcome(turn(answer("x", finish=finish)))
    assert isinstance(outcome, Reply)
    assert outcome.finish == shown


@pytest.mark.parametrize("finish", ["tool-calls", "unknown", "error", None])
def test_idle_after_a_step_that_is_not_final_is_a_failure(finish: str | None) -> None:
    assert isinstance(_outcome(BUSY, text("a", "t", "x"), assistant("a", finish), idle()), Failure)


def test_message_with_an_error_is_not_final() -> None:
    assert isinstance(_outcome(BUSY, assistant("a", "stop", error={"name": "X"}), idle()), Failure)


def test_final_message_without_text_is_an_empty_reply() -> None:
    assert _text(BUSY, assistant("a"), assistant("a", "length"), idle()) == ""


def test_idle_alone_is_a_failure() -> None:
    assert isinstance(_outcome(BUSY, idle()), Failure)


def test_idle_before_the_turn_began_means_nothing() -> None:
    assert _text(idle(), event("session.updated"), user(), idle(), turn(answer("hello"))) == "hello"


def test_status_idle_ends_the_turn_without_session_idle() -> None:
    assert _text(BUSY, answer("hello"), status("idle")) == "hello"


def test_usage_is_the_sum_over_steps_with_cache_and_reasoning() -> None:
    events: list[Event | list[Event]] = [
        BUSY,
        tokens("a", "f", "tool-calls", input=10, output=5, reasoning=1),
        assistant("a", "tool-calls"),
        tokens("b", "g", "stop", input=20, output=7, reasoning=2, read=3, write=4),
        tokens("b", "g", "stop", input=20, output=7, reasoning=2, read=3, write=4),
        assistant("b", "stop"),
    ]
    assert _outcome(*events, idle()) == Reply("", "stop", Usage(37, 15))


def test_retry_takes_back_text_of_the_abandoned_attempt() -> None:
    steps = _feed(BUSY, assistant("a"), opened("a", "t"), delta("a", "t", "first "), status("retry"))
    assert steps == [Delta("first "), Retracted()]


def test_retry_before_any_text_takes_nothing_back() -> None:
    assert _feed(BUSY, assistant("a"), opened("a", "t"), status("retry"), status("retry")) == []


def test_retry_does_not_touch_earlier_steps() -> None:
    assert Retracted() not in _feed(BUSY, answer("done", "a", "tool-calls"), assistant("b"), status("retry"))


def test_abandoned_text_is_not_in_the_reply() -> None:
    attempt = [assistant("a"), opened("a", "t"), delta("a", "t", "first "), status("retry"), text("a", "t", "first ")]
    assert _text(BUSY, attempt, opened("a", "u"), delta("a", "u", "second"), assistant("a", "stop"), idle()) == "second"


def test_text_is_taken_back_only_once() -> None:
    attempt = [assistant("a"), opened("a", "t"), delta("a", "t", "x"), status("retry"), status("retry")]
    assert _feed(BUSY, attempt).count(Retracted()) == 1


@pytest.mark.parametrize(
    "name",
    ["APIError", "UnknownError", "MessageAbortedError", "ProviderAuthError", "MessageOutputLengthError", "NoSuchName"],
)
def test_session_error_fails_at_once(name: str) -> None:
    assert isinstance(_outcome(BUSY, assistant("a"), error(name)), Failure)


def test_session_error_before_busy_fails() -> None:
    assert isinstance(_outcome(error("UnknownError")), Failure)


def test_error_after_text_is_a_failure() -> None:
    assert isinstance(_outcome(BUSY, assistant("a"), text("a", "t", "part of"), error("UnknownError")), Failure)


@pytest.mark.parametrize("session", [None, "ses_other"])
def test_error_of_no_session_or_another_changes_nothing(session: str | None) -> None:
    assert _text(BUSY, error("UnknownError", session), answer("hello"), idle()) == "hello"


def test_everything_of_other_sessions_changes_nothing() -> None:
    foreign = [
        {**one, "properties": {**one["properties"], "sessionID": "ses_other"}}
        for one in [*turn(answer("other")), error("APIError"), event("session.deleted"), OVERFLOW]
    ]
    assert _text(foreign, BUSY, foreign, answer("own", "b"), foreign, idle()) == "own"


def test_deleted_session_is_a_failure() -> None:
    assert isinstance(_outcome(BUSY, event("session.deleted")), Failure)


def test_overflow_that_is_mended_replies_with_what_comes_after() -> None:
    assert _text(BUSY, assistant("a"), OVERFLOW, assistant("a"), COMPACTION, answer("after", "b"), idle()) == "after"


def test_summary_is_neither_handed_out_nor_counted() -> None:
    steps = _feed(BUSY, assistant("a"), OVERFLOW, COMPACTION, answer("after", "b"), idle())
    assert steps == [Delta("after"), Reply("after", "stop", Usage(10, 2))]


def test_idle_after_a_summary_is_a_failure() -> None:
    assert isinstance(_outcome(BUSY, assistant("a"), OVERFLOW, COMPACTION, idle()), Failure)


def test_second_error_after_an_overflow_is_a_failure() -> None:
    assert isinstance(_outcome(BUSY, OVERFLOW, summary("s", "error", error={"name": "E"}), OVERFLOW), Failure)


def test_other_error_after_an_overflow_is_a_failure() -> None:
    assert isinstance(_outcome(BUSY, OVERFLOW, COMPACTION, error("APIError")), Failure)


def test_overflow_after_text_takes_it_back() -> None:
    assert _feed(BUSY, assistant("a"), text("a", "t", "half"), OVERFLOW) == [Delta("half"), Retracted()]


def test_overflow_is_doubtful_until_a_compaction_begins() -> None:
    machine = Turn(SESSION)
    seen = [machine.doubtful]
    for one in [status("busy"), OVERFLOW, part("msg_c", "prt_c", "compaction")]:
        machine.feed(one)
        seen.append(machine.doubtful)
    assert seen == [False, False, True, False]


@pytest.mark.parametrize("kind", ["permission", "question"])
def test_question_is_reported_with_its_id(kind: str) -> None:
    (step,) = _feed(BUSY, event(f"{kind}.asked", id="id_1"))
    assert isinstance(step, Question)
    assert (step.kind, step.id) == (kind, "id_1")


def test_question_of_a_child_session_is_reported() -> None:
    child = event("session.created", "ses_child", info={"id": "ses_child", "parentID": SESSION})
    grandchild = event("session.created", "ses_grandchild", info={"id": "ses_grandchild", "parentID": "ses_child"})
    assert _feed(child, grandchild, event("permission.asked", "ses_grandchild", id="per_1")) == [
        Question("permission", "per_1")
    ]


def test_question_of_another_session_is_not_reported() -> None:
    stranger = event("session.created", "ses_other", info={"id": "ses_other"})
    assert _feed(stranger, event("question.asked", "ses_other", id="que_1")) == []


def test_child_session_ends_nothing() -> None:
    child = event("session.created", "ses_child", info={"id": "ses_child", "parentID": SESSION})
    assert _text(BUSY, child, idle("ses_child"), error("APIError", "ses_child"), answer("hello"), idle()) == "hello"


@pytest.mark.parametrize("heartbeat", ["server.connected", "server.heartbeat", "plugin.added"])
def test_events_about_no_session_change_nothing(heartbeat: str) -> None:
    assert _feed(event(heartbeat, None)) == []


@pytest.mark.parametrize("properties", [None, [], "x", {}, {"sessionID": SESSION}, {"sessionID": SESSION, "info": []}])
@pytest.mark.parametrize(
    "kind", ["message.updated", "message.part.updated", "message.part.delta", "session.status", "session.created"]
)
def test_events_with_fields_missing_are_survived(kind: str, properties: Any) -> None:
    assert _feed({"type": kind, "properties": properties}) == []
