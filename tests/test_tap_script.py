from __future__ import annotations

import json
from typing import Any

import pytest

from harness.exchange import Request
from harness.sse import Event, encode, parse
from harness.tap_script import SESSION, Delay, Inject, Reply, TapRule, TapScript, is_event_stream

IDLE = {"type": "session.idle", "properties": {"sessionID": SESSION}}


def script(*rules: TapRule) -> TapScript:
    script = TapScript()
    script.replace(rules)
    return script


def event(type_: str, **properties: Any) -> Event:
    return Event("message", json.dumps({"type": type_, "properties": properties}))


def slipped(script: TapScript, event: Event) -> list[Any]:
    return [event.json() for event in parse(script.events_after(event))]


def test_script_without_rules_lets_everything_pass() -> None:
    empty = TapScript()
    assert (empty.reply(Request("POST", "/session")), empty.events_after(event("x"))) == (None, b"")


def test_reply_answers_with_status_and_body() -> None:
    rules = script(Reply("POST", "/session", 500, {"name": "UnknownError"}))
    assert rules.reply(Request("POST", "/session?directory=x")) == (500, b'{"name": "UnknownError"}')


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
    assert [rules.reply(Request("GET", "/x")) for _ in range(3)] == [(500, b"1"), (502, b"2"), None]


def test_reply_names_the_session_of_the_path() -> None:
    rules = script(Reply("GET", "/session/[^/]+/message", 200, [{"sessionID": SESSION}]))
    reply = rules.reply(Request("GET", "/session/ses_1/message"))
    assert reply == (200, b'[{"sessionID": "ses_1"}]')


def test_reply_to_a_path_without_a_session_names_none() -> None:
    assert script(Reply("GET", "/x", 200, SESSION)).reply(Request("GET", "/x")) == (200, b'""')


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
    assert script(Inject("session.status", (IDLE,), status="busy")).events_after(other) == b""


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
    assert rules.reply(Request("GET", "/x")) == (500, b"1")


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
            {"reply": ["GET", "/x"], "status": 500, "body": [1], "times": 2},
        ),
        (
            Inject("a", ({"type": "b"},), "busy", 3),
            {"inject": [{"type": "b"}], "after": "a", "status": "busy", "times": 3},
        ),
    ],
)
def test_rule_is_recorded_as_json(rule: Reply | Inject, value: dict[str, Any]) -> None:
    assert json.loads(json.dumps(rule.to_json())) == value


def test_slipped_events_are_whole_events() -> None:
    assert script(Inject("a", ({"type": "b"},))).events_after(event("a")) == encode({"type": "b"})


def test_delay_is_for_the_requests_it_names_and_no_more_of_them_than_it_says() -> None:
    rules = script(Delay("GET", "/event|/global/event", 0.5, times=2))
    asked = [("GET", "/event"), ("POST", "/event"), ("GET", "/session"), ("GET", "/global/event?x"), ("GET", "/event")]
    assert [rules.delay(Request(*each)) for each in asked] == [0.5, 0.0, 0.0, 0.5, 0.0]


def test_delay_is_no_reply_and_slips_nothing_in() -> None:
    rules = script(Delay("GET", "/event", 0.5))
    assert (rules.reply(Request("GET", "/event")), rules.events_after(event("x"))) == (None, b"")


def test_delay_is_recorded() -> None:
    assert Delay("GET", "/event", 0.5).to_json() == {"delay": ["GET", "/event"], "seconds": 0.5, "times": 1}
