from __future__ import annotations

import json
import random
from typing import Any, get_args

import pytest

from harness.exchange import Request
from harness.fakes.plan import Plan
from harness.sse import Event, encode, parse
from harness.tap_script import (
    ASSISTANT,
    SESSION,
    USER,
    Break,
    Delay,
    Inject,
    Interference,
    Refuse,
    Reply,
    Split,
    TapRule,
    TapScript,
    is_event_stream,
    rule_from_json,
)
from tests.arbitrary import arbitrary

IDLE = {"type": "session.idle", "properties": {"sessionID": SESSION}}


def script(*rules: TapRule) -> TapScript:
    script = TapScript()
    script.replace(rules)
    return script


def event(type_: str, **properties: Any) -> Event:
    return Event("message", json.dumps({"type": type_, "properties": properties}))


def slipped(script: TapScript, event: Event) -> list[Any]:
    return [event.json() for event in parse(script.after(event).extra)]


def reply(script: TapScript, method: str, target: str) -> tuple[int | None, bytes] | None:
    """Status and body of the script's answer to a request, or None when it lets it pass."""
    plan = script.reply(Request(method, target))
    return None if plan is None else (plan.status, b"".join(piece.data for piece in plan.pieces))


def test_script_without_rules_lets_everything_pass() -> None:
    empty = TapScript()
    assert (empty.reply(Request("POST", "/session")), empty.after(event("x"))) == (None, Interference())


def test_reply_answers_with_status_and_body() -> None:
    rules = script(Reply("POST", "/session", 500, {"name": "UnknownError"}))
    assert reply(rules, "POST", "/session?directory=x") == (500, b'{"name": "UnknownError"}')


@pytest.mark.parametrize(
    "request_",
    [Request("GET", "/session"), Request("POST", "/session/ses_1"), Request("POST", "/x/session")],
    ids=lambda request: f"{request.method} {request.target}",
)
def test_reply_speaks_of_its_method_and_whole_path_only(request_: Request) -> None:
    assert script(Reply("POST", "/session", 500, {})).reply(request_) is None


def test_reply_is_given_as_many_times_as_it_says() -> None:
    rules = script(Reply("GET", "/.*", 503, {}, times=2))
    assert [rules.reply(Request("GET", "/x")) is None for _ in range(4)] == [False, False, True, True]


def test_next_reply_follows_when_the_first_is_used_up() -> None:
    rules = script(Reply("GET", "/x", 500, 1), Reply("GET", "/x", 502, 2))
    assert [reply(rules, "GET", "/x") for _ in range(3)] == [(500, b"1"), (502, b"2"), None]


def test_reply_names_the_session_of_the_path() -> None:
    rules = script(Reply("GET", "/session/[^/]+/message", 200, [{"sessionID": SESSION}]))
    assert reply(rules, "GET", "/session/ses_1/message") == (200, b'[{"sessionID": "ses_1"}]')


def test_reply_to_a_path_without_a_session_names_none() -> None:
    assert reply(script(Reply("GET", "/x", 200, SESSION)), "GET", "/x") == (200, b'""')


def test_reply_of_another_type_than_json_is_its_text() -> None:
    rules = script(Reply("GET", "/x", 200, "<p>", media="text/html"))
    plan = rules.reply(Request("GET", "/x"))
    assert plan is not None
    assert (plan.headers, plan.pieces[0].data) == ((("content-type", "text/html"),), b"<p>")


def test_reply_that_breaks_off_is_framed_in_chunks() -> None:
    plan = script(Reply("GET", "/x", 200, {}, ending="cut")).reply(Request("GET", "/x"))
    assert plan is not None
    assert (plan.stream, plan.ending) == (True, "cut")


def test_reply_without_a_status_says_nothing() -> None:
    plan = script(Reply("GET", "/x", None, {}, ending="reset")).reply(Request("GET", "/x"))
    assert plan == Plan(None, (("content-type", "application/json"),), (), True, "reset", "reply")


def test_events_are_slipped_in_after_their_type() -> None:
    rules = script(Inject("session.status", (IDLE, {"type": "b"})))
    assert slipped(rules, event("session.status", sessionID="ses_1")) == [
        {"type": "session.idle", "properties": {"sessionID": "ses_1"}},
        {"type": "b"},
    ]


@pytest.mark.parametrize(
    "other",
    [
        event("session.idle"),
        Event("message", "[DONE]"),
        Event("message", "[1]"),
        Event("message", '{"type": "session.status", "properties": []}'),
        event("session.status"),
        event("session.status", status="busy"),
        event("session.status", status={"type": "idle"}),
    ],
    ids=lambda event: event.data,
)
def test_other_events_are_not_followed(other: Event) -> None:
    assert script(Inject("session.status", (IDLE,), status="busy")).after(other) == Interference()


def test_status_of_the_event_is_looked_at() -> None:
    rules = script(Inject("session.status", ({"type": "b"},), status="busy"))
    assert slipped(rules, event("session.status", status={"type": "busy"})) == [{"type": "b"}]


def test_events_are_slipped_in_as_many_times_as_the_rule_says() -> None:
    rules = script(Inject("a", ({"type": "b"},), times=2))
    assert [len(slipped(rules, event("a"))) for _ in range(4)] == [1, 1, 0, 0]


def test_global_events_are_wrapped_like_the_one_they_follow() -> None:
    rules = script(Inject("a", (IDLE,)))
    inner = {"type": "a", "properties": {"sessionID": "ses_1"}}
    (extra,) = slipped(rules, Event("message", json.dumps({"directory": "/d", "payload": inner})))
    assert extra == {"directory": "/d", "payload": {"type": "session.idle", "properties": {"sessionID": "ses_1"}}}


def test_session_id_with_signs_of_json_is_filled_in_whole() -> None:
    rules = script(Inject("a", (IDLE,)))
    (extra,) = slipped(rules, event("a", sessionID='s"\\é'))
    assert extra["properties"]["sessionID"] == 's"\\é'


def test_replaced_rules_are_unused() -> None:
    rules = script(Reply("GET", "/x", 500, 1))
    rules.reply(Request("GET", "/x"))
    rules.replace([Reply("GET", "/x", 500, 1)])
    assert reply(rules, "GET", "/x") == (500, b"1")


@pytest.mark.parametrize(
    ("request_", "subscribes"),
    [
        (Request("GET", "/event"), True),
        (Request("GET", "/global/event?directory=x"), True),
        (Request("POST", "/event"), False),
        (Request("GET", "/session/event"), False),
    ],
)
def test_subscription_to_events_is_told_by_method_and_path(request_: Request, subscribes: bool) -> None:
    assert is_event_stream(request_) is subscribes


@pytest.mark.parametrize(
    ("rule", "value"),
    [
        (
            Reply("GET", "/x", 500, [1], 2),
            {
                "reply": ["GET", "/x"],
                "status": 500,
                "body": [1],
                "times": 2,
                "media": "application/json",
                "ending": "complete",
            },
        ),
        (
            Inject("a", ({"type": "b"}, "{"), status="busy", times=3),
            {"inject": [{"type": "b"}, "{"], "after": "a", "status": "busy", "where": {}, "times": 3},
        ),
        (
            Break("a", "cut", where={"info.finish": "stop"}),
            {"break": "cut", "after": "a", "status": None, "where": {"info.finish": "stop"}, "times": 1},
        ),
        (Split(0.1), {"split": 0.1}),
        (Refuse(), {"refuse": True}),
    ],
    ids=lambda value: type(value).__name__,
)
def test_rule_is_recorded_as_json(rule: TapRule, value: dict[str, Any]) -> None:
    assert json.loads(json.dumps(rule.to_json())) == value


def test_slipped_events_are_whole_events() -> None:
    assert script(Inject("a", ({"type": "b"},))).after(event("a")).extra == encode({"type": "b"})


def test_string_is_sent_as_data_as_it_is() -> None:
    assert script(Inject("a", ('{"type": "b"',))).after(event("a")).extra == b'data: {"type": "b"\n\n'


@pytest.mark.parametrize(
    ("where", "breaks"),
    [
        ({"info.finish": "tool-calls"}, True),
        ({"info.finish": "tool-calls", "info.role": "assistant"}, True),
        ({"info.finish": "stop"}, False),
        ({"info.finish.more": "x"}, False),
        ({"info.finish": "tool-calls", "sessionID": "ses_2"}, False),
    ],
    ids=str,
)
def test_properties_of_the_event_are_looked_at(where: dict[str, Any], breaks: bool) -> None:
    info = {"role": "assistant", "finish": "tool-calls"}
    rules = script(Break("message.updated", "reset", where=where))
    interference = rules.after(event("message.updated", sessionID="ses_1", info=info))
    assert interference == Interference(ending="reset" if breaks else None)


def test_stream_is_broken_as_many_times_as_the_rule_says() -> None:
    rules = script(Break("a", "cut"))
    assert [rules.after(event("a")).ending for _ in range(2)] == ["cut", None]


def test_events_are_slipped_in_before_the_stream_is_broken() -> None:
    rules = script(Break("a", "cut"), Inject("a", ({"type": "b"},)))
    assert rules.after(event("a")) == Interference(encode({"type": "b"}), "cut")


def test_last_messages_of_the_session_are_filled_in() -> None:
    rules = script(Inject("session.idle", ({"user": USER, "assistant": ASSISTANT},)))
    for session, role in (("ses_1", "user"), ("ses_2", "user"), ("ses_1", "assistant"), ("ses_2", "assistant")):
        rules.after(event("message.updated", sessionID=session, info={"id": f"{role} {session}", "role": role}))
    assert slipped(rules, event("session.idle", sessionID="ses_1")) == [
        {"user": "user ses_1", "assistant": "assistant ses_1"}
    ]


def test_messages_that_have_not_come_are_filled_in_as_nothing() -> None:
    rules = script(Inject("session.idle", ({"user": USER},)))
    assert slipped(rules, event("session.idle", sessionID="ses_1")) == [{"user": ""}]


def test_event_without_a_session_is_followed_by_ones_of_the_last_created() -> None:
    rules = script(Inject("server.connected", (IDLE,)))
    rules.created({"id": "ses_1"})
    assert slipped(rules, event("server.connected"))[0]["properties"] == {"sessionID": "ses_1"}


@pytest.mark.parametrize("session", [None, [], {}, "x"], ids=repr)
def test_session_that_is_none_is_not_filled_in(session: object) -> None:
    rules = script(Inject("server.connected", (IDLE,)))
    rules.created(session)
    assert slipped(rules, event("server.connected"))[0]["properties"] == {"sessionID": ""}


def test_connections_are_refused_while_a_rule_says_so() -> None:
    rules = script(Refuse())
    refused = rules.refuses
    rules.replace([Split(0.5)])
    assert (refused, rules.refuses, rules.pause) == (True, False, 0.5)


def test_delay_is_for_the_requests_it_names_and_no_more_of_them_than_it_says() -> None:
    rules = script(Delay("GET", "/event|/global/event", 0.5, times=2))
    asked = [("GET", "/event"), ("POST", "/event"), ("GET", "/session"), ("GET", "/global/event?x"), ("GET", "/event")]
    assert [rules.delay(Request(*each)) for each in asked] == [0.5, 0.0, 0.0, 0.5, 0.0]


def test_delay_is_no_reply_and_slips_nothing_in() -> None:
    rules = script(Delay("GET", "/event", 0.5))
    assert (rules.reply(Request("GET", "/event")), rules.after(event("x"))) == (None, Interference())


def test_delay_is_recorded() -> None:
    assert Delay("GET", "/event", 0.5).to_json() == {"delay": ["GET", "/event"], "seconds": 0.5, "times": 1}


@pytest.mark.parametrize("kind", get_args(TapRule), ids=lambda kind: kind.__name__)
def test_rule_of_any_kind_comes_back_from_its_json(kind: type[TapRule]) -> None:
    chance = random.Random(kind.__name__)
    for _ in range(300):
        rule: TapRule = arbitrary(kind, chance)
        assert rule_from_json(json.loads(json.dumps(rule.to_json()))) == rule


@pytest.mark.parametrize("value", [{}, {"refuse": False}, {"reply": "POST"}, {"nonsense": 1}], ids=repr)
def test_what_is_no_rule_is_refused(value: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="no rule of the tap"):
        rule_from_json(value)
