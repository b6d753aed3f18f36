from __future__ import annotations

import json
from typing import Any

import pytest

from harness.reference.endpoint.chat_request import Message, parse
from harness.reference.endpoint.envelope import Refusal
from harness.reference.endpoint.parts import Parts

USER = {"role": "user", "content": "hi"}


def _parse(**fields: Any) -> tuple[Message, ...]:
    return parse(json.dumps({"model": "m", "messages": [USER], **fields}).encode(), Parts()).messages


def _refusal(body: bytes | dict[str, Any]) -> Refusal:
    data = body if isinstance(body, bytes) else json.dumps({"model": "m", "messages": [USER], **body}).encode()
    with pytest.raises(Refusal) as refused:
        parse(data, Parts())
    assert refused.value.status == 400
    assert refused.value.type == "invalid_request_error"
    return refused.value


@pytest.mark.parametrize(
    "body", [b"", b"{", b"hello", b"\xff", b"[]", b"null", b'"x"', b"1" * 5000, b"[" * 100_000, b'{"a":' * 100_000]
)
def test_body_that_is_not_a_json_object_is_refused(body: bytes) -> None:
    _refusal(body)


@pytest.mark.parametrize("model", [None, "", 1, [], {}, True])
def test_model_must_be_a_string_with_something_in_it(model: Any) -> None:
    assert _refusal({"model": model}).param == "model"


@pytest.mark.parametrize("messages", [None, [], "hi", {}, 1])
def test_messages_must_be_a_list_with_something_in_it(messages: Any) -> None:
    assert _refusal({"messages": messages}).param == "messages"


@pytest.mark.parametrize("message", [None, "hi", 1, []])
def test_message_must_be_an_object(message: Any) -> None:
    assert _refusal({"messages": [USER, message]}).param == "messages[1]"


@pytest.mark.parametrize("role", [None, "", "User", "robot", 1])
def test_role_must_be_known(role: Any) -> None:
    assert _refusal({"messages": [{"role": role, "content": "x"}]}).param == "messages[0].role"


@pytest.mark.parametrize("content", [1, 1.5, True, {}, None])
def test_user_content_of_a_wrong_type_is_refused(content: Any) -> None:
    assert _refusal({"messages": [{"role": "user", "content": content}]}).param == "messages[0].content"


@pytest.mark.parametrize("part", ["x", None, {}, {"type": "text"}, {"type": "text", "text": 1}])
def test_part_that_is_no_text_part_is_refused(part: Any) -> None:
    param = _refusal({"messages": [{"role": "user", "content": [part]}]}).param
    assert param is not None
    assert param.startswith("messages[0].content[0]")


def test_image_part_is_refused_by_name() -> None:
    part = {"type": "image_url", "image_url": {"url": "data:,"}}
    assert "image_url" in _refusal({"messages": [{"role": "user", "content": [part]}]}).message


@pytest.mark.parametrize("stream", ["false", "true", 1, 0, 1.0, "", [], {}])
def test_stream_that_is_not_a_boolean_is_refused(stream: Any) -> None:
    assert _refusal({"stream": stream}).param == "stream"


@pytest.mark.parametrize(("stream", "read"), [(True, True), (False, False), (None, False)])
def test_stream_is_a_boolean_or_null(stream: bool | None, read: bool) -> None:
    body = json.dumps({"model": "m", "messages": [USER], "stream": stream}).encode()
    assert parse(body, Parts()).stream is read


@pytest.mark.parametrize(
    ("fields", "param"),
    [
        ({"n": 2}, "n"),
        ({"response_format": {"type": "json_object"}}, "response_format"),
        ({"response_format": {"type": "json_schema", "json_schema": {}}}, "response_format"),
        ({"tool_choice": "required"}, "tool_choice"),
        ({"tool_choice": {"type": "function", "function": {"name": "f"}}}, "tool_choice"),
        ({"logprobs": True}, "logprobs"),
    ],
)
def test_what_is_not_supported_is_refused_by_name(fields: dict[str, Any], param: str) -> None:
    refusal = _refusal(fields)
    assert refusal.param == param
    assert param in refusal.message


@pytest.mark.parametrize(
    "fields",
    [
        {"n": 1, "response_format": {"type": "text"}, "logprobs": False},
        {"tools": [{"type": "function", "function": {"name": "f"}}], "tool_choice": "auto"},
        {"tool_choice": "none", "stream_options": {"include_usage": True}},
        {"temperature": 0.5, "max_tokens": 5, "user": "u", "metadata": {"a": "b"}, "unheard_of": [1]},
        {"n": None, "response_format": None, "tool_choice": None, "logprobs": None, "stream_options": None},
        {"messages": [{**USER, "name": "bob", "unheard_of": 1}]},
    ],
)
def test_what_clients_send_is_accepted(fields: dict[str, Any]) -> None:
    assert _parse(**fields) == (Message("user", "hi"),)


@pytest.mark.parametrize("role", ["system", "developer", "user", "assistant", "tool"])
def test_text_parts_are_joined_in_every_role(role: str) -> None:
    content = [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]
    assert _parse(messages=[{"role": role, "content": content}, USER])[0] == Message(role, "ab")


def test_own_answer_is_accepted_as_history() -> None:
    own = {
        "role": "assistant",
        "content": "before",
        "refusal": None,
        "annotations": None,
        "audio": None,
        "function_call": None,
        "tool_calls": None,
    }
    assert _parse(messages=[USER, own, USER])[1] == Message("assistant", "before")


def test_tool_calls_of_the_history_are_told() -> None:
    call = {"id": "c", "type": "function", "function": {"name": "look", "arguments": '{"at": 1}'}}
    calling = {"role": "assistant", "content": None, "tool_calls": [call]}
    assert _parse(messages=[USER, calling, USER])[1].text == '[called look: {"at": 1}]'


@pytest.mark.parametrize("content", ["", " \n", [], [{"type": "text", "text": ""}]])
def test_empty_user_message_is_a_user_message(content: Any) -> None:
    assert _parse(messages=[{"role": "user", "content": content}])[0].text.strip() == ""


def test_conversation_without_a_user_message_is_refused() -> None:
    assert _refusal({"messages": [{"role": "system", "content": "x"}]}).param == "messages"


def test_last_of_duplicate_keys_counts() -> None:
    body = b'{"model": "a", "model": "b", "messages": [{"role": "user", "content": "hi"}]}'
    assert parse(body, Parts()).model == "b"


def test_unpaired_surrogate_is_refused() -> None:
    assert _refusal({"messages": [{"role": "user", "content": "\ud800"}]}).param == "messages[0].content"


def test_paired_surrogates_are_a_character() -> None:
    body = b'{"model": "m", "messages": [{"role": "user", "content": "\\ud83d\\ude00"}]}'
    assert parse(body, Parts()).messages[0].text == "\U0001f600"


@pytest.mark.parametrize(
    ("options", "asked"), [({"include_usage": True}, True), ({"include_usage": 1}, False), ([], False)]
)
def test_usage_is_asked_for_by_true_alone(options: Any, asked: bool) -> None:
    body = json.dumps({"model": "m", "messages": [USER], "stream_options": options}).encode()
    assert parse(body, Parts()).include_usage is asked
