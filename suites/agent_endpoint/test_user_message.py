"""Which message of the conversation is the one to answer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from harness.actors import Client, JournalReader, Script
from harness.chat import ask, error_of, post, work_in
from harness.check import expect
from harness.exchange import Exchange
from harness.expectations import expect_completion, expect_no_calls, expect_refusal, expect_said, shown
from harness.fakes.model.script import Answer, call_kind, messages_of
from harness.target import Agent, Facts
from harness.target_keys import KeyFacts

NO_USER: dict[str, list[str]] = {
    "system": ["system"],
    "assistant": ["assistant"],
    "system and assistant": ["system", "assistant"],
}


@pytest.mark.requirement("AE-EMPTY-2")
@pytest.mark.parametrize("roles", NO_USER.values(), ids=NO_USER.keys())
def test_a_conversation_without_a_user_message_is_refused(
    client: Client,
    script: Script,
    journal: JournalReader,
    nonce: Callable[[str], str],
    key: KeyFacts,
    agent: Agent,
    roles: list[str],
) -> None:
    """It is the client's mistake, and drives nothing; with a user message after it, it is a conversation."""
    messages = [{"role": role, "content": nonce(role)} for role in roles]
    refused = client.send("refused", post({"model": agent.id, "messages": messages}), key=key.name)
    mend = "answer 400 when no message has the role user"
    expect_refusal(refused, {400}, "a conversation without a user message", mend)
    expect_no_calls(work_in(journal.read("opencode", "opencode")), "opencode", "a conversation without a user message")
    expect_no_calls(journal.read("model", "model"), "the model server", "a conversation without a user message")
    script.answer("answer", Answer(text=nonce("said")), nonce=nonce("asked"))
    messages.append({"role": "user", "content": nonce("asked")})
    reply = client.send("ask", post({"model": agent.id, "messages": messages}), key=key.name)
    expect_said(expect_completion(reply, "the same conversation with a user message"), nonce("said"), reply)


LAST: dict[str, Any] = {"empty string": "", "no parts": [], "spaces": "  "}


@pytest.mark.requirement("AE-EMPTY-3")
@pytest.mark.parametrize("content", LAST.values(), ids=LAST.keys())
def test_an_earlier_message_does_not_stand_in_for_an_empty_last_one(
    client: Client,
    script: Script,
    journal: JournalReader,
    nonce: Callable[[str], str],
    target: Facts,
    key: KeyFacts,
    agent: Agent,
    content: Any,
) -> None:
    """What was asked and answered before is not asked again: it is history at most, with its answer after it."""
    mend = "take the last user message, whether its content is empty or not"
    script.answer("answer", Answer(text=nonce("said")))
    messages = [
        {"role": "user", "content": nonce("earlier")},
        {"role": "assistant", "content": nonce("answered")},
        {"role": "user", "content": content},
    ]
    reply = client.send("ask", post({"model": agent.id, "messages": messages}), key=key.name)
    calls = journal.read("model", "model")
    policy = target.policies.empty_user_content
    if policy == "reject" or (policy is None and reply.status == 400):
        expect_refusal(reply, {400}, "an empty last user message", mend)
        named = "empty" in str(error_of(reply).get("message")).lower()
        expect(named, "a refusal that says that the content is empty", shown(reply), "say that it is empty", reply)
        expect_no_calls(calls, "the model server", "an empty last user message")
        script.answer("full answer", Answer(text=nonce("full")), nonce=nonce("asked"))
        full = client.send("ask fully", ask(agent.id, nonce("asked")), key=key.name)
        expect_said(expect_completion(full, "a message that is not empty"), nonce("full"), full)
        return
    expect_said(expect_completion(reply, "an empty last user message"), nonce("said"), reply)
    for call in calls:
        told = told_to_model(call)
        again = told.rfind(nonce("earlier")) > told.rfind(nonce("answered"))
        expect(not again, "the earlier message nowhere, or before its answer", told[-500:], mend, call)


def told_to_model(call: Exchange) -> str:
    """All text of a model call that is a step of a turn, in its order; empty for other calls."""
    body = call.request.json()
    if not isinstance(body, dict) or call_kind(body) != "turn":
        return ""
    return "\n".join(text for _, text in messages_of(body))
