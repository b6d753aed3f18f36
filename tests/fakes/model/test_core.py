from __future__ import annotations

import json
from typing import Any

import pytest

from harness.exchange import Request
from harness.fakes.model.core import respond
from harness.fakes.model.script import Answer, Fault, ToolCall, Usage
from harness.fakes.plan import Plan
from harness.sse import parse

MESSAGES = [{"role": "user", "content": "hello"}]


def post(body: Any) -> Request:
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    return Request("POST", "/v1/chat/completions", body=data)


def answered(request: Request, answer: Answer | None = None) -> Plan:
    return respond(request, frozenset({"m", "a/b"}), lambda _: answer or Answer())


def completion(answer: Answer, **more: Any) -> Plan:
    return answered(post({"model": "m", "messages": MESSAGES, **more}), answer)


def body_of(plan: Plan) -> Any:
    return json.loads(b"".join(piece.data for piece in plan.pieces))


def events(answer: Answer, **more: Any) -> list[Any]:
    plan = completion(answer, stream=True, **more)
    return [event.json() or event.data for event in parse(b"".join(piece.data for piece in plan.pieces))]


def deltas(answer: Answer, field: str) -> list[Any]:
    chunks = [event for event in events(answer) if isinstance(event, dict)]
    return [d[field] for chunk in chunks for d in (c["delta"] for c in chunk["choices"]) if d.get(field)]


def refuse_to_choose(body: Any) -> Answer:
    raise AssertionError(f"the script must not be asked: {body}")


def test_model_list_names_every_model() -> None:
    plan = answered(Request("GET", "/v1/models?limit=5"))
    assert [model["id"] for model in body_of(plan)["data"]] == ["a/b", "m"]


@pytest.mark.parametrize(
    "request_",
    [
        Request("GET", "/"),
        Request("POST", "/v1/models"),
        Request("GET", "/v1/chat/completions"),
        Request("POST", "/v1/responses", body=b"{}"),
        Request("POST", "/v1/chat/completions/"),
    ],
    ids=lambda request: f"{request.method} {request.target}",
)
def test_unknown_route_is_404_naming_it(request_: Request) -> None:
    plan = answered(request_)
    assert (plan.status, body_of(plan)["error"]["message"]) == (404, f"no route {request_.method} {request_.target}")


@pytest.mark.parametrize(
    "body",
    [b"", b"{", b"[]", b"\xff\xfe", b"[" * 100_000, {}, {"messages": []}, {"messages": "x"}, {"messages": [1]}],
    ids=lambda body: repr(body)[:20],
)
def test_body_without_messages_is_400_without_asking_the_script(body: object) -> None:
    assert respond(post(body), frozenset({"m"}), refuse_to_choose).status == 400


@pytest.mark.parametrize("model", ["other", "M", "", None, 5, ["m"], {"m": 1}], ids=repr)
def test_unknown_model_is_404_without_asking_the_script(model: object) -> None:
    plan = respond(post({"model": model, "messages": MESSAGES}), frozenset({"m"}), refuse_to_choose)
    assert (plan.status, body_of(plan)["error"]["code"]) == (404, "model_not_found")


def test_script_is_asked_with_the_body() -> None:
    asked: list[Any] = []
    body = {"model": "m", "messages": MESSAGES, "extra": 1}

    def choose(body: Any) -> Answer:
        asked.append(body)
        return Answer()

    respond(post(body), frozenset({"m"}), choose)
    assert asked == [body]


@pytest.mark.parametrize("stream", [False, None, "true", 1], ids=repr)
def test_anything_but_stream_true_gets_one_json_object(stream: object) -> None:
    value = body_of(completion(Answer("hello é"), stream=stream))
    assert (value["object"], value["choices"][0]["message"]["content"]) == ("chat.completion", "hello é")


@pytest.mark.parametrize("finish", ["stop", "length", None])
def test_finish_reason_is_the_answers(finish: str | None) -> None:
    assert body_of(completion(Answer(finish=finish)))["choices"][0]["finish_reason"] == finish


def test_reasoning_stays_out_of_the_content() -> None:
    message = body_of(completion(Answer("a", reasoning="because")))["choices"][0]["message"]
    assert (message["content"], message["reasoning_content"]) == ("a", "because")


@pytest.mark.parametrize("stream", [False, True])
def test_reasoning_is_given_in_the_field_that_the_answer_names(stream: bool) -> None:
    answer = Answer("a", reasoning="because", reasoning_field="reasoning")
    given = (
        deltas(answer, "reasoning") if stream else [body_of(completion(answer))["choices"][0]["message"]["reasoning"]]
    )
    assert given == ["because"]


CALLS = (ToolCall("todowrite"), ToolCall("read", '{"filePath":"x"}'))
SENT = [
    {"id": "call_1_0", "type": "function", "function": {"name": "todowrite", "arguments": "{}"}},
    {"id": "call_1_1", "type": "function", "function": {"name": "read", "arguments": '{"filePath":"x"}'}},
]


def test_tool_calls_are_in_the_message() -> None:
    assert body_of(completion(Answer(tool_calls=CALLS)))["choices"][0]["message"]["tool_calls"] == SENT


def test_tool_calls_are_streamed_with_their_index() -> None:
    streamed = [call for delta in deltas(Answer(tool_calls=CALLS), "tool_calls") for call in delta]
    assert streamed == [{"index": index, **call} for index, call in enumerate(SENT)]


def test_message_without_tool_calls_has_none() -> None:
    assert "tool_calls" not in body_of(completion(Answer()))["choices"][0]["message"]


def test_usage_is_the_answers() -> None:
    assert body_of(completion(Answer(usage=Usage(100, 30, 20))))["usage"] == {
        "prompt_tokens": 100,
        "completion_tokens": 30,
        "total_tokens": 130,
        "completion_tokens_details": {"reasoning_tokens": 20},
    }


def test_cached_tokens_are_told_where_there_are_some() -> None:
    usage = body_of(completion(Answer(usage=Usage(100, 30, cached=60))))["usage"]
    assert (usage["prompt_tokens"], usage["prompt_tokens_details"]) == (100, {"cached_tokens": 60})


def test_usage_adds_up() -> None:
    usage = body_of(completion(Answer("a" * 40)))["usage"]
    assert usage["total_tokens"] == usage["prompt_tokens"] + usage["completion_tokens"]


def test_text_is_streamed_in_pieces() -> None:
    assert deltas(Answer("abcdefg", piece=3), "content") == ["abc", "def", "g"]


def test_reasoning_is_streamed_before_the_text() -> None:
    order = [key for event in events(Answer("t", reasoning="r"))[1:3] for key in event["choices"][0]["delta"]]
    assert order == ["reasoning_content", "content"]


def test_role_comes_once_and_first() -> None:
    chunks = [event for event in events(Answer("abc", piece=1)) if isinstance(event, dict)]
    assert ["role" in chunk["choices"][0]["delta"] for chunk in chunks] == [True, False, False, False, False]


def test_finish_reason_comes_once_and_done_comes_last() -> None:
    *chunks, done = events(Answer("ab", piece=1, finish="length"))
    reasons = [chunk["choices"][0]["finish_reason"] for chunk in chunks]
    assert (reasons, done) == ([None, None, None, "length"], "[DONE]")


def test_stream_without_a_finish_reason_leaves_it_out() -> None:
    *chunks, done = events(Answer("ab", finish=None))
    assert ({chunk["choices"][0]["finish_reason"] for chunk in chunks}, done) == ({None}, "[DONE]")


def test_usage_is_streamed_when_asked_for() -> None:
    last, done = events(Answer(), stream_options={"include_usage": True})[-2:]
    assert (last["choices"], sorted(last["usage"]), done) == (
        [],
        ["completion_tokens", "completion_tokens_details", "prompt_tokens", "total_tokens"],
        "[DONE]",
    )


@pytest.mark.parametrize("options", [None, {}, {"include_usage": False}, "include_usage", []], ids=repr)
def test_usage_is_not_streamed_unless_asked_for(options: object) -> None:
    assert not any("usage" in event for event in events(Answer(), stream_options=options) if isinstance(event, dict))


def test_pieces_of_text_are_due_on_deadlines_from_the_beginning() -> None:
    plan = completion(Answer("abc", piece=1, pause=0.5), stream=True)
    assert [piece.at for piece in plan.pieces] == [0.0, 0.5, 1.0, 1.5, 1.5, 1.5]


def test_status_is_answered_with_message_and_headers() -> None:
    plan = completion(Answer(status=429, message="slow down", headers=(("retry-after", "1"),)), stream=True)
    assert (plan.status, dict(plan.headers)["retry-after"], body_of(plan)["error"]["message"]) == (
        429,
        "1",
        "slow down",
    )


@pytest.mark.parametrize(("status", "type_"), [(400, "invalid_request_error"), (503, "server_error")])
def test_type_of_a_status_tells_whose_fault_it_is(status: int, type_: str) -> None:
    assert body_of(completion(Answer(status=status, message="x")))["error"]["type"] == type_


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("fault", ["hang", "hang_after_text", "cut", "reset", "bad_chunk", "error_chunk"])
def test_every_fault_is_named_in_the_plan(fault: Fault, stream: bool) -> None:
    assert completion(Answer("x", fault=fault), stream=stream).fault == fault


def test_tool_calls_are_streamed_with_ids_that_differ_from_step_to_step() -> None:
    answer = Answer("", tool_calls=(ToolCall("read", '{"a": 1}'), ToolCall("bash")), finish="tool_calls")
    calls = [call for call, *_ in deltas(answer, "tool_calls")]
    assert [(call["index"], call["function"]["name"]) for call in calls] == [(0, "read"), (1, "bash")]
    later = events(answer, messages=[*MESSAGES, {"role": "tool", "content": "x"}])
    assert calls[0]["id"] not in json.dumps(later)


def test_a_whole_completion_holds_its_tool_calls() -> None:
    plan = completion(Answer("", tool_calls=(ToolCall("read", "{}"),), finish="tool_calls"))
    assert body_of(plan)["choices"][0]["message"]["tool_calls"][0]["function"] == {"name": "read", "arguments": "{}"}


def test_reasoning_goes_into_the_field_that_the_answer_names() -> None:
    assert "".join(deltas(Answer(reasoning="hm", reasoning_field="reasoning"), "reasoning")) == "hm"


def test_an_error_may_be_of_another_type_than_its_status() -> None:
    assert body_of(completion(Answer(status=401, error_type="server_error")))["error"]["type"] == "server_error"
