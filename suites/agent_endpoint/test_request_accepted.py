"""What clients send is accepted."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from harness.actors import Client, JournalReader, Script
from harness.chat import ask, post
from harness.check import Inconclusive, expect
from harness.exchange import Exchange
from harness.expectations import expect_completion, expect_said, expect_stream
from harness.fakes.model.script import Answer
from harness.target import Agent
from harness.target_keys import KeyFacts

MEND_PARTS = "pass on the text of every part"

Accepts = Callable[[dict[str, Any], str], None]


@pytest.fixture
def expect_accepted(client: Client, script: Script, nonce: Callable[[str], str], key: KeyFacts) -> Accepts:
    """Expects the answer to a body whose last user message holds the word `asked`: what the model said to it."""

    def expect_it(body: dict[str, Any], why: str) -> None:
        scripted = script.reaches("model behind", "model")
        if scripted:
            script.answer("answer", Answer(text=nonce("said")), nonce=nonce("asked"))
        reply = client.send("ask", post(body), key=key.name)
        text = read(reply, body.get("stream") is True, why)
        if scripted:
            expect_said(text, nonce("said"), reply)

    return expect_it


def read(reply: Exchange, streamed: bool, why: str) -> str:
    """The text of an answer, streamed or not."""
    return expect_stream(reply, why).text if streamed else expect_completion(reply, why)


@pytest.fixture
def user(nonce: Callable[[str], str]) -> dict[str, Any]:
    """The user's message."""
    return {"role": "user", "content": nonce("asked")}


@pytest.fixture
def expect_all_told(script: Script, journal: JournalReader) -> Callable[[list[str]], None]:
    """Expects that a model call holds all of some words, where the model server is ours."""

    def expect_it(words: list[str]) -> None:
        if script.reaches("model behind what was told", "model"):
            calls = [call.request.body.decode("utf-8", "replace") for call in journal.read("model", "model")]
            told = any(all(word in call for word in words) for call in calls)
            expect(told, f"a model call with {' and '.join(words)}", f"none of {len(calls)} has them", MEND_PARTS)

    return expect_it


def text_parts(*texts: str) -> list[dict[str, str]]:
    """Content as a list of text parts."""
    return [{"type": "text", "text": text} for text in texts]


@pytest.mark.requirement("AE-REQ-4")
@pytest.mark.parametrize("role", ["system", "user", "assistant"])
@pytest.mark.parametrize("count", [1, 2], ids=["one part", "two parts"])
def test_content_may_be_a_list_of_text_parts(
    expect_accepted: Accepts,
    expect_all_told: Callable[[list[str]], None],
    nonce: Callable[[str], str],
    agent: Agent,
    user: dict[str, Any],
    role: str,
    count: int,
) -> None:
    """A string and a list of text parts are two ways to write the same."""
    hello = {"role": "user", "content": "Hello"}
    parts = text_parts("Be brief.", "Be kind.")[:count]
    asked = [nonce("asked"), nonce("asked further")][:count]
    messages = {
        "system": [{"role": "system", "content": parts}, user],
        "user": [{"role": "user", "content": text_parts(*asked)}],
        "assistant": [hello, {"role": "assistant", "content": parts}, user],
    }[role]
    expect_accepted({"model": agent.id, "messages": messages}, f"text parts as {role} content")
    if role == "user":
        expect_all_told(asked)


@pytest.mark.requirement("AE-REQ-4")
@pytest.mark.parametrize("content", ["null", "left out"])
def test_an_assistant_message_with_tool_calls_may_have_no_content(
    expect_accepted: Accepts, agent: Agent, user: dict[str, Any], content: str
) -> None:
    """The API itself answers so when the model calls a tool."""
    call = {"id": "call_1", "type": "function", "function": {"name": "look", "arguments": "{}"}}
    calling: dict[str, Any] = {"role": "assistant", "tool_calls": [call]}
    if content == "null":
        calling["content"] = None
    messages = [{"role": "user", "content": "Look."}, calling, user]
    expect_accepted({"model": agent.id, "messages": messages}, "assistant content null beside tool_calls")


IGNORED: dict[str, dict[str, Any]] = {
    "unknown field": {"turnproof_field": {"a": [1, None]}},
    "temperature": {"temperature": 0.5, "top_p": 0.9},
    "max_tokens": {"max_tokens": 5},
    "max_completion_tokens": {"max_completion_tokens": 5},
    "user": {"user": "somebody"},
    "metadata": {"metadata": {"a": "b"}},
    "sampling": {"seed": 1, "stop": ["never"], "presence_penalty": 0.1, "frequency_penalty": 0.1, "logit_bias": {}},
    "of a vendor": {"store": False, "service_tier": "auto", "reasoning_effort": "low", "top_k": 5},
}


@pytest.mark.requirement("AE-REQ-5")
@pytest.mark.parametrize("fields", IGNORED.values(), ids=IGNORED.keys())
def test_a_field_that_is_not_needed_is_ignored(
    expect_accepted: Accepts, agent: Agent, user: dict[str, Any], fields: dict[str, Any]
) -> None:
    """Clients send what other servers want."""
    expect_accepted({"model": agent.id, "messages": [user], **fields}, f"the fields {', '.join(fields)}")


@pytest.mark.requirement("AE-REQ-5")
def test_unknown_fields_of_a_message_are_ignored(expect_accepted: Accepts, agent: Agent, user: dict[str, Any]) -> None:
    """So are names and whatever else stands beside role and content."""
    message = {**user, "name": "somebody", "turnproof_field": [1], "cache_control": {"type": "ephemeral"}}
    expect_accepted({"model": agent.id, "messages": [message]}, "a message with unknown fields")


TOOL = {"type": "function", "function": {"name": "look", "parameters": {"type": "object", "properties": {}}}}
NULLS = [
    "audio",
    "frequency_penalty",
    "function_call",
    "functions",
    "logit_bias",
    "logprobs",
    "max_completion_tokens",
    "max_tokens",
    "metadata",
    "modalities",
    "n",
    "parallel_tool_calls",
    "presence_penalty",
    "reasoning_effort",
    "response_format",
    "seed",
    "service_tier",
    "stop",
    "store",
    "stream",
    "stream_options",
    "temperature",
    "tool_choice",
    "tools",
    "top_logprobs",
    "top_p",
    "user",
]
USUAL: dict[str, dict[str, Any]] = {
    "n 1": {"n": 1},
    "format text": {"response_format": {"type": "text"}},
    "tools auto": {"tools": [TOOL], "tool_choice": "auto"},
    "tools alone": {"tools": [TOOL], "parallel_tool_calls": True},
    "no logprobs": {"logprobs": False},
    "stream with usage": {"stream": True, "stream_options": {"include_usage": True}},
    "stream without usage": {"stream": True, "stream_options": {"include_usage": False}},
    "stream with no options": {"stream": True, "stream_options": {}},
    "all null": dict.fromkeys(NULLS),
    **{f"{name} null": {name: None} for name in ("n", "tools", "tool_choice", "response_format", "stream_options")},
}


@pytest.mark.requirement("AE-REQ-11")
@pytest.mark.parametrize("fields", USUAL.values(), ids=USUAL.keys())
def test_what_clients_always_send_is_accepted(
    expect_accepted: Accepts, agent: Agent, user: dict[str, Any], fields: dict[str, Any]
) -> None:
    """It asks for nothing but what is done anyway."""
    expect_accepted({"model": agent.id, "messages": [user], **fields}, f"the fields {', '.join(fields)}")


@pytest.mark.requirement("AE-REQ-12")
@pytest.mark.parametrize("added", ["nothing", "nulls"])
def test_an_answer_may_be_sent_back_as_history(
    client: Client,
    expect_accepted: Accepts,
    nonce: Callable[[str], str],
    key: KeyFacts,
    agent: Agent,
    user: dict[str, Any],
    added: str,
) -> None:
    """As a chat loop does: the message object of the answer as it came, or as the official client writes it out."""
    first = client.send("first", ask(agent.id, nonce("first")), key=key.name)
    if first.status != 200:
        raise Inconclusive("there is no answer to send back")
    expect_completion(first, "a plain request")
    message = first.json()["choices"][0]["message"]
    if added == "nulls":
        nulls = dict.fromkeys(("refusal", "annotations", "audio", "function_call", "tool_calls"))
        message = {**nulls, **message}
    messages = [{"role": "user", "content": nonce("first")}, message, user]
    expect_accepted({"model": agent.id, "messages": messages}, "the endpoint's own answer as history")
