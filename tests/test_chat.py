from __future__ import annotations

import json
from typing import Any

import pytest

from harness.chat import ask, content_of, error_of, prompts_in, stream_of
from harness.exchange import Exchange, Request
from tests.sample_results import exchange


def answer(body: Any) -> Exchange:
    return exchange(chunks=[body if isinstance(body, bytes) else json.dumps(body).encode()])


def test_ask_is_a_chat_completion_with_one_user_message() -> None:
    request = ask("solver", [{"type": "text", "text": "x"}], stream=True)
    assert (request.method, request.target) == ("POST", "/v1/chat/completions")
    assert request.headers == (("content-type", "application/json"),)
    assert request.json() == {
        "model": "solver",
        "messages": [{"role": "user", "content": [{"type": "text", "text": "x"}]}],
        "stream": True,
    }


@pytest.mark.parametrize("body", [b"", b"<html>", [], "x", {"error": "x"}, {"error": None}, {}])
def test_answer_without_an_error_object_has_an_empty_one(body: Any) -> None:
    assert error_of(answer(body)) == {}


def test_error_object_is_found() -> None:
    assert error_of(answer({"error": {"code": "x"}})) == {"code": "x"}


@pytest.mark.parametrize(
    "body",
    [
        b"",
        [],
        {},
        {"choices": []},
        {"choices": None},
        {"choices": [{}]},
        {"choices": ["x"]},
        {"choices": [{"message": {"content": None}}]},
        {"choices": [{"message": {"content": ["x"]}}]},
    ],
)
def test_answer_that_is_no_completion_has_no_content(body: Any) -> None:
    assert content_of(answer(body)) is None


def test_content_of_a_completion_is_found() -> None:
    assert content_of(answer({"choices": [{"message": {"content": "said"}}]})) == "said"


def streamed(*chunks: bytes) -> Exchange:
    return exchange(chunks=chunks, status=200)


def test_text_of_a_stream_is_joined_over_all_pieces() -> None:
    one, two = ({"choices": [{"delta": {"content": text}}]} for text in ("a", "ü"))
    data = b"".join(f"data: {json.dumps(chunk, ensure_ascii=False)}\n\n".encode() for chunk in (one, two))
    assert stream_of(streamed(*(data[at : at + 1] for at in range(len(data))))).text == "aü"


def test_stream_cut_inside_an_event_is_unfinished() -> None:
    assert stream_of(streamed(b"data: {}\n\ndata: {")).unfinished
    assert not stream_of(streamed(b"data: {}\n\n")).unfinished


@pytest.mark.parametrize(
    "data", ["[DONE]", "[]", "1", '{"choices": null}', '{"choices": ["x"]}', '{"choices": [{"delta": 1}]}', "{"]
)
def test_strange_events_have_no_text(data: str) -> None:
    assert stream_of(streamed(f"data: {data}\n\n".encode())).text == ""


@pytest.mark.parametrize(
    ("method", "path", "body", "prompts"),
    [
        ("POST", "/session/ses_1/prompt_async", {"parts": []}, True),
        ("POST", "/session/ses_1/message", {"parts": []}, True),
        ("POST", "/session/ses_1/message?directory=x", {}, True),
        ("POST", "/session/ses_1/message", {"noReply": False}, True),
        ("POST", "/session/ses_1/message", {"noReply": True}, False),
        ("GET", "/session/ses_1/message", {}, False),
        ("POST", "/session/ses_1/abort", {}, False),
        ("POST", "/session", {}, False),
        ("POST", "/session/a/b/message", {}, False),
    ],
)
def test_prompt_is_what_drives_a_turn(method: str, path: str, body: Any, prompts: bool) -> None:
    seen = exchange(request=Request(method, path, (), json.dumps(body).encode()), hop="opencode")
    assert prompts_in([seen]) == ([seen] if prompts else [])
