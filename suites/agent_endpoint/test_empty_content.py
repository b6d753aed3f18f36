"""An empty user message is a user message."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from harness.actors import Client, JournalReader, Script
from harness.chat import ask, error_of, prompts_in
from harness.check import expect
from harness.exchange import Exchange
from harness.expectations import expect_completion, expect_no_calls, expect_refusal, expect_said, shown
from harness.fakes.model.script import Answer
from harness.target import Agent, Facts
from harness.target_keys import KeyFacts

MEND = "test whether there is a user message, not whether its content is truthy"

EMPTY: dict[str, Any] = {
    "empty string": "",
    "no parts": [],
    "empty text part": [{"type": "text", "text": ""}],
    "spaces": "   ",
    "line break and tab": "\n\t",
    "text part of a space": [{"type": "text", "text": " "}],
}


@pytest.mark.requirement("AE-EMPTY-1")
@pytest.mark.parametrize("content", EMPTY.values(), ids=EMPTY.keys())
def test_empty_content_is_not_a_missing_message(
    client: Client,
    script: Script,
    journal: JournalReader,
    nonce: Callable[[str], str],
    target: Facts,
    key: KeyFacts,
    agent: Agent,
    content: Any,
) -> None:
    """It drives one turn or is refused as empty, as the target declares; where it declares nothing, either will do."""
    script.answer("answer", Answer(text=nonce("said")))
    reply = client.send("empty", ask(agent.id, content), key=key.name)
    expect_no_missing_message(reply, f"content {json.dumps(content)}")
    policy = target.policies.empty_user_content
    prompts = prompts_in(journal.read("opencode", "opencode"))
    if policy == "reject" or (policy is None and reply.status == 400):
        expect_refusal(reply, {400}, "empty content", MEND)
        named = "empty" in str(error_of(reply).get("message")).lower()
        expect(named, "a refusal that says that the content is empty", shown(reply), "say that it is empty", reply)
        expect_no_calls(prompts, "opencode", "refused content")
    else:
        expect_said(expect_completion(reply, "empty content"), nonce("said"), reply)
        expect(len(prompts) == 1, "exactly one prompt to opencode", f"{len(prompts)} prompts", MEND, reply)


def expect_no_missing_message(reply: Exchange, why: str) -> None:
    """Neither a 502 nor the claim that there is no message."""
    expect(reply.status != 502, f"no 502 for {why}", shown(reply), MEND, reply)
    denied = reply.status != 200 and "no user message" in reply.text.lower()
    expect(not denied, f"no claim that the user message is missing for {why}", shown(reply), MEND, reply)
