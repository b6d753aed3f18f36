"""What would change the answer is obeyed or refused by its name, and never dropped in silence."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from typing import Any

import pytest

from harness.actors import Client, JournalReader, Script
from harness.chat import ask, content_of, error_of, post, stream_of
from harness.check import expect
from harness.exchange import Exchange, parse_json
from harness.expectations import expect_completion, expect_no_calls, expect_refusal, expect_said, shown
from harness.fakes.model.script import Answer
from harness.target import Agent, Facts
from harness.target_keys import KeyFacts

MEND = "refuse what is not supported with a 400 that names the parameter"
MEND_DROPPED = "pass the message on to the agent, or refuse it with a 400 that names what is not supported"

TOOL = {"type": "function", "function": {"name": "look", "parameters": {"type": "object", "properties": {}}}}
NAMED = {"type": "function", "function": {"name": "look"}}
SCHEMA = {"name": "s", "schema": {"type": "object"}}


def choices_of(reply: Exchange) -> list[dict[str, Any]]:
    """The choices of a completion, or those that are in a stream's chunks."""
    body = reply.json()
    choices = body.get("choices") if isinstance(body, dict) else stream_of(reply).choices
    return [choice for choice in choices or () if isinstance(choice, dict)]


def has_two_choices(reply: Exchange) -> bool:
    """Whether n = 2 was obeyed."""
    choices = choices_of(reply)
    return len({choice.get("index") for choice in choices} if is_stream(reply) else choices) == 2


def is_json(reply: Exchange) -> bool:
    """Whether a JSON response format was obeyed."""
    said = stream_of(reply).text if is_stream(reply) else content_of(reply) or ""
    return isinstance(parse_json(said.encode()), dict)


def calls_a_tool(reply: Exchange) -> bool:
    """Whether a tool was called, as was required."""
    said = "delta" if is_stream(reply) else "message"
    return any((choice.get(said) or {}).get("tool_calls") for choice in choices_of(reply))


def has_logprobs(reply: Exchange) -> bool:
    """Whether log-probabilities were given."""
    return any(choice.get("logprobs") for choice in choices_of(reply))


def is_stream(reply: Exchange) -> bool:
    """Whether an answer is an event stream."""
    return reply.content_type == "text/event-stream"


Obeyed = Callable[[Exchange], bool]
UNSUPPORTED: dict[str, tuple[dict[str, Any], str, Obeyed]] = {
    "two choices": ({"n": 2}, "n", has_two_choices),
    "JSON object": ({"response_format": {"type": "json_object"}}, "response_format", is_json),
    "JSON schema": (
        {"response_format": {"type": "json_schema", "json_schema": SCHEMA}},
        "response_format",
        is_json,
    ),
    "tool required": ({"tools": [TOOL], "tool_choice": "required"}, "tool_choice", calls_a_tool),
    "tool named": ({"tools": [TOOL], "tool_choice": NAMED}, "tool_choice", calls_a_tool),
    "logprobs": ({"logprobs": True}, "logprobs", has_logprobs),
}


@pytest.mark.requirement("AE-REQ-6")
@pytest.mark.parametrize(("fields", "name", "obeyed"), UNSUPPORTED.values(), ids=UNSUPPORTED.keys())
def test_a_parameter_is_obeyed_or_refused_by_its_name(
    client: Client,
    nonce: Callable[[str], str],
    key: KeyFacts,
    agent: Agent,
    expect_works: Callable[[], None],
    fields: dict[str, Any],
    name: str,
    obeyed: Obeyed,
) -> None:
    """A client that asks for it and gets a plain answer takes that for what it asked for; a stream no less."""
    for stream in (False, True):
        label = "ask, streamed" if stream else "ask"
        reply = client.send(label, ask(agent.id, nonce("asked"), stream=stream, **fields), key=key.name)
        why = json.dumps({**fields, "stream": stream})
        if reply.status == 200:
            expect(obeyed(reply), f"{why} to be obeyed or refused", shown(reply), MEND, reply)
        else:
            expect_refusal(reply, {400}, why, MEND)
            said = error_of(reply)
            named = said.get("param") == name or name in str(said.get("message"))
            expect(named, f"a refusal that names `{name}`", shown(reply), MEND, reply)
    expect_works()


def expect_named(refused: Exchange, words: Iterable[str], why: str) -> None:
    """A refusal whose message or parameter tells what was refused, or where it stood."""
    expect_refusal(refused, {400, 415, 422}, why, MEND_DROPPED)
    error = error_of(refused)
    said = f"{error.get('message')} {error.get('param')}".lower()
    named = any(word in said for word in words) or str(error.get("param")).startswith("messages")
    expect(named, f"a refusal that names {why}", shown(refused), MEND_DROPPED, refused)


def expect_dropped_nothing(
    reply: Exchange, prompts: Iterable[Exchange], word: str, words: tuple[str, ...], why: str
) -> None:
    """Refused by name with nothing sent, or answered with `word` among what opencode was sent."""
    sent = [exchange for exchange in prompts if exchange.request.method == "POST"]
    if reply.status == 200:
        there = any(word in json.dumps(exchange.request.json(), ensure_ascii=False) for exchange in sent)
        expect(there, f"{why} to be passed on to opencode", "an answer without it", MEND_DROPPED, reply)
    else:
        expect_named(reply, words, why)
        expect_no_calls(sent, "opencode", f"{why} that was refused")


@pytest.mark.requirement("AE-REQ-9")
@pytest.mark.parametrize("role", ["tool", "developer"])
def test_a_message_of_a_rare_role_is_passed_on_or_refused(
    client: Client,
    script: Script,
    journal: JournalReader,
    nonce: Callable[[str], str],
    target: Facts,
    key: KeyFacts,
    agent: Agent,
    expect_works: Callable[[], None],
    role: str,
) -> None:
    """Where the target sends on the last user message only, what comes before it is dropped by declaration."""
    call = {"id": "call_1", "type": "function", "function": {"name": "look", "arguments": "{}"}}
    calling = {"role": "assistant", "content": "One moment.", "tool_calls": [call]}
    before: dict[str, list[dict[str, Any]]] = {
        "tool": [
            {"role": "user", "content": "Look."},
            calling,
            {"role": "tool", "tool_call_id": "call_1", "content": nonce("rare")},
        ],
        "developer": [{"role": "developer", "content": nonce("rare")}],
    }
    script.answer("answer", Answer(text=nonce("said")), nonce=nonce("asked"))
    body = {"model": agent.id, "messages": [*before[role], {"role": "user", "content": nonce("asked")}]}
    reply = client.send("ask", post(body), key=key.name)
    seen = journal.read("opencode", "opencode")
    if reply.status == 200 and target.policies.history != "full":
        expect_said(expect_completion(reply, f"a message of role {role}"), nonce("said"), reply)
    else:
        expect_dropped_nothing(reply, seen, nonce("rare"), (role, "role"), f"a message of role {role}")
    expect_works()


PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
"""A picture of one pixel, PNG in base64."""


def picture() -> dict[str, Any]:
    """A part that holds a picture."""
    return {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PIXEL}"}}


@pytest.mark.requirement("AE-REQ-9")
def test_a_picture_of_an_earlier_message_is_passed_on_or_refused(
    client: Client,
    script: Script,
    journal: JournalReader,
    nonce: Callable[[str], str],
    target: Facts,
    key: KeyFacts,
    agent: Agent,
    expect_works: Callable[[], None],
) -> None:
    """What is asked about it later makes no sense without.

    Where the target sends on the last user message only, what comes before it is dropped by declaration.
    """
    shown_first = {"role": "user", "content": [{"type": "text", "text": "Look."}, picture()]}
    asked = {"role": "user", "content": f"What is on it? {nonce('asked')}"}
    body = {"model": agent.id, "messages": [shown_first, {"role": "assistant", "content": "A dot."}, asked]}
    script.answer("answer", Answer(text=nonce("said")), nonce=nonce("asked"))
    reply = client.send("ask", post(body), key=key.name)
    seen = journal.read("opencode", "opencode")
    if reply.status == 200 and target.policies.history != "full":
        expect_said(expect_completion(reply, "an image part of an earlier message"), nonce("said"), reply)
    else:
        expect_dropped_nothing(reply, seen, PIXEL, ("image",), "an image part of an earlier message")
    expect_works()


@pytest.mark.requirement("AE-REQ-9")
@pytest.mark.parametrize("place", ["before text", "after text", "alone"])
def test_a_picture_is_passed_on_or_refused(
    client: Client,
    journal: JournalReader,
    nonce: Callable[[str], str],
    key: KeyFacts,
    agent: Agent,
    expect_works: Callable[[], None],
    place: str,
) -> None:
    """An agent that is asked about a picture and never got it makes its answer up."""
    text = {"type": "text", "text": f"What is on it? {nonce('asked')}"}
    content = {"before text": [picture(), text], "after text": [text, picture()], "alone": [picture()]}[place]
    reply = client.send("ask", ask(agent.id, content), key=key.name)
    expect_dropped_nothing(reply, journal.read("opencode", "opencode"), PIXEL, ("image",), "an image part")
    expect_works()
