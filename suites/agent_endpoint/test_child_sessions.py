"""A turn that is given up takes its child sessions with it."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from harness.actors import Client, Clock, JournalReader, Script
from harness.chat import ask
from harness.check import NotApplicable, expect
from harness.exchange import Exchange
from harness.expectations import expect_refusal
from harness.fakes.model.script import Answer, ToolCall
from harness.target import Agent, Facts, KeyFacts

MEND = "abort the session's children too (GET /session/{id}/children), and once more a moment later"
QUIET_SECONDS = 3.0
"""How long no model call may begin after the declared grace."""


@pytest.mark.requirement("AE-FAULT-11")
def test_giving_up_ends_the_child_sessions(
    client: Client,
    script: Script,
    journal: JournalReader,
    clock: Clock,
    nonce: Callable[[str], str],
    target: Facts,
    key: KeyFacts,
    agent: Agent,
) -> None:
    """The agent hands a task to another one, whose model hangs: at the deadline both come to rest."""
    task = {"description": "look it up", "prompt": nonce("child"), "subagent_type": "general"}
    call = ToolCall("task", json.dumps(task))
    script.answer("child", Answer(fault="hang"), nonce=nonce("child"))
    script.answer("parent", Answer(text="", tool_calls=(call,), finish="tool_calls"), nonce=nonce("asked"))
    reply = client.send("ask", ask(agent.id, nonce("asked")), key=key.name)

    def of_child(label: str) -> list[Exchange]:
        return [made for made in journal.read(label, "model") if nonce("child").encode() in made.request.body]

    clock.sleep("grace", target.abort_grace)
    before = of_child("after the grace")
    if not before:
        raise NotApplicable("the agent starts no child session when its model asks for one")
    expect_refusal(reply, {502, 504}, "a turn whose child hangs", "keep one deadline per turn")
    clock.sleep("quiet", QUIET_SECONDS)
    after = of_child("after the quiet")
    still = [made for made in before if made.end == "open"]
    expect(not still, "the child's model call closed", f"{len(still)} still open", MEND, (still or [reply])[0])
    later = after[len(before) :]
    expect(not later, "no further model call of the child", f"{len(later)} more", MEND, (later or [reply])[0])
