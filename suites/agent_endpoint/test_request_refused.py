"""Requests that cannot be understood are the client's mistake, and are told so."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from harness.actors import Client
from harness.chat import PATH, ask, post
from harness.check import expect
from harness.exchange import Request
from harness.expectations import expect_refusal, shown
from harness.target import Agent
from harness.target_keys import KeyFacts

MEND = "validate the body yourself, and answer 400 with OpenAI's error envelope"
MEND_METHOD = "answer 405 with Allow, in the error envelope"
USER = {"role": "user", "content": "Hello"}
LEFT_OUT = object()

NO_OBJECT = {
    "empty": b"",
    "broken": b'{"model": "m", "messages": [',
    "two values": b"{} {}",
    "text": b"hello",
    "form": b"model=m&messages=hello",
    "no utf-8": b'{"model": "\xff\xfe"}',
    "list": b'[{"role": "user", "content": "Hello"}]',
    "string": b'"hello"',
    "number": b"1",
    "null": b"null",
    "true": b"true",
}


@pytest.mark.requirement("AE-REQ-1")
@pytest.mark.parametrize("body", NO_OBJECT.values(), ids=NO_OBJECT.keys())
def test_a_body_that_is_no_json_object_is_refused(
    client: Client, key: KeyFacts, expect_works: Callable[[], None], body: bytes
) -> None:
    """It is a 400, not a 422 of a framework and not a crash."""
    refused = client.send("refused", Request("POST", PATH, (("content-type", "application/json"),), body), key=key.name)
    expect_refusal(refused, {400}, f"the body {body[:40]!r}", MEND)
    expect_works()


WRONG_MODELS = {"missing": LEFT_OUT, "empty": "", "null": None, "number": 1, "boolean": True, "list": [], "object": {}}


@pytest.mark.requirement("AE-REQ-2")
@pytest.mark.parametrize("model", WRONG_MODELS.values(), ids=WRONG_MODELS.keys())
def test_a_model_that_is_no_name_is_refused(
    client: Client, key: KeyFacts, expect_works: Callable[[], None], model: Any
) -> None:
    """There is no default model, and only a string can name one."""
    fields = {} if model is LEFT_OUT else {"model": model}
    refused = client.send("refused", post({**fields, "messages": [USER]}), key=key.name)
    why = "a body without a model" if model is LEFT_OUT else f"model {json.dumps(model)}"
    expect_refusal(refused, {400}, why, MEND)
    expect_works()


WRONG_MESSAGES = {
    "missing": LEFT_OUT,
    "empty": [],
    "null": None,
    "string": "Hello",
    "number": 1,
    "object": USER,
    "string within": ["Hello"],
    "null within": [None],
    "number within": [1, USER],
    "list within": [[USER]],
}


@pytest.mark.requirement("AE-REQ-2")
@pytest.mark.parametrize("messages", WRONG_MESSAGES.values(), ids=WRONG_MESSAGES.keys())
def test_messages_that_are_no_list_of_objects_are_refused(
    client: Client, key: KeyFacts, agent: Agent, expect_works: Callable[[], None], messages: Any
) -> None:
    """Nothing is made up in their place."""
    fields = {} if messages is LEFT_OUT else {"messages": messages}
    refused = client.send("refused", post({"model": agent.id, **fields}), key=key.name)
    why = "a body without messages" if messages is LEFT_OUT else f"messages {json.dumps(messages)}"
    expect_refusal(refused, {400}, why, MEND)
    expect_works()


WRONG_CONTENT = {"integer": 1, "zero": 0, "fraction": 1.5, "true": True, "false": False, "object": {}, "null": None}


@pytest.mark.requirement("AE-REQ-3")
@pytest.mark.parametrize("content", WRONG_CONTENT.values(), ids=WRONG_CONTENT.keys())
@pytest.mark.parametrize("place", ["only", "last"])
def test_user_content_of_a_wrong_type_is_refused(
    client: Client, key: KeyFacts, agent: Agent, expect_works: Callable[[], None], place: str, content: Any
) -> None:
    """It is neither turned into text nor taken for empty."""
    before = [USER, {"role": "assistant", "content": "Hello"}] if place == "last" else []
    body = {"model": agent.id, "messages": [*before, {"role": "user", "content": content}]}
    refused = client.send("refused", post(body), key=key.name)
    expect_refusal(refused, {400}, f"user content {json.dumps(content)}", MEND)
    expect_works()


WRONG_METHODS = {
    "GET completions": ("GET", PATH, "POST"),
    "PUT completions": ("PUT", PATH, "POST"),
    "POST models": ("POST", "/v1/models", "GET"),
    "DELETE models": ("DELETE", "/v1/models", "GET"),
}


@pytest.mark.requirement("AE-REQ-10")
@pytest.mark.parametrize(("method", "path", "right"), WRONG_METHODS.values(), ids=WRONG_METHODS.keys())
def test_a_wrong_method_is_told_the_right_one(
    client: Client, key: KeyFacts, agent: Agent, expect_works: Callable[[], None], method: str, path: str, right: str
) -> None:
    """The path is known, so it is neither a 404 nor an answer."""
    good = ask(agent.id, "Hello")
    request = Request(method, path, good.headers, good.body) if method in ("PUT", "POST") else Request(method, path)
    refused = client.send("refused", request, key=key.name)
    expect_refusal(refused, {405}, f"{method} {path}", MEND_METHOD)
    allowed = [name.strip() for name in (refused.header("allow") or "").split(",")]
    expect(right in allowed, f"Allow to name {right}", refused.header("allow") or shown(refused), MEND_METHOD, refused)
    expect_works()
