"""The official client works with the endpoint, and says what is wrong where something is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from harness.actors import Script
from harness.check import expect
from harness.expectations import expect_said
from harness.fakes.model.script import Answer
from harness.official_client import OfficialClient, Outcome
from harness.target import Agent
from harness.target_keys import KeyFacts


def expect_value(outcome: Outcome, why: str) -> Any:
    """The call gave a value."""
    came = f"{outcome.raised}: {outcome.message}"
    expect(outcome.raised is None, f"no error of the openai client when it {why}", came, "mend it", outcome.exchange)
    return outcome.value


def user(text: str) -> list[dict[str, str]]:
    """A conversation of one message."""
    return [{"role": "user", "content": text}]


@pytest.mark.requirement("AE-CLIENT-1")
def test_the_openai_client_lists_the_agents(openai_client: OfficialClient, key: KeyFacts, agent: Agent) -> None:
    """`models.list()` holds the agent."""
    outcome = openai_client.models("list", key.name)
    ids = expect_value(outcome, "lists models")
    expect(agent.id in ids, f"{agent.id!r} in models.list()", repr(ids), "list the key's agents", outcome.exchange)


@pytest.mark.requirement("AE-CLIENT-1")
@pytest.mark.parametrize("stream", [False, True], ids=["json", "stream"])
def test_the_openai_client_gets_an_answer(
    openai_client: OfficialClient,
    script: Script,
    nonce: Callable[[str], str],
    key: KeyFacts,
    agent: Agent,
    stream: bool,
) -> None:
    """`chat.completions.create()`, streamed or not, gives the model's words."""
    scripted = script.reaches("model behind", "model")
    if scripted:
        script.answer("answer", Answer(text=f"Here: {nonce('said')}", piece=6), nonce=nonce("asked"))
    call = openai_client.stream if stream else openai_client.complete
    outcome = call("ask", key.name, model=agent.id, messages=user(nonce("asked")))
    value = expect_value(outcome, "streams a completion" if stream else "asks for a completion")
    choices = [choice for part in (value if stream else [value]) for choice in part.get("choices") or []]
    text = "".join((choice.get("delta") or choice.get("message") or {}).get("content") or "" for choice in choices)
    assert outcome.exchange is not None
    if scripted:
        expect_said(text, nonce("said"), outcome.exchange)
    mend = "answer with the model's words and a finish reason"
    finished = [choice.get("finish_reason") for choice in choices]
    whole = bool(text) and any(finished)
    expect(whole, "text and a finish reason", f"{text!r}, {finished}", mend, outcome.exchange)


@pytest.mark.requirement("AE-CLIENT-1")
@pytest.mark.parametrize("stream", [False, True], ids=["json", "stream"])
@pytest.mark.parametrize("status", [400, 401, 404, 502])
def test_the_openai_client_raises_its_own_error(
    openai_client: OfficialClient,
    script: Script,
    nonce: Callable[[str], str],
    key: KeyFacts,
    agent: Agent,
    status: int,
    stream: bool,
) -> None:
    """Each refusal is the error class of its status; a stream that has begun before its turn fails is an APIError."""
    classes = {400: "BadRequestError", 401: "AuthenticationError", 404: "NotFoundError", 502: "InternalServerError"}
    call = openai_client.stream if stream else openai_client.complete
    key_name, model, messages = key.name, agent.id, user(nonce("asked"))
    match status:
        case 400:
            messages = []
        case 404:
            model = nonce("nobody")
        case 502:
            script.answer("failure", Answer(status=400, message="no such parameter"), nonce=nonce("asked"))
    outcome = call("fail", None if status == 401 else key_name, model=model, messages=messages)
    came = f"{outcome.raised or outcome.value!r} with status {outcome.status}: {outcome.message}"
    begun = stream and status == 502 and outcome.raised == "APIError"
    right = begun or (outcome.raised == classes[status] and outcome.status == status)
    mend = f"answer with status {status} and the error envelope"
    expect(right, f"{classes[status]} with status {status}", came, mend, outcome.exchange)
    expect_value(openai_client.models("list", key.name), "lists models after a failure")
