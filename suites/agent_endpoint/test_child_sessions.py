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
from harness.fixtures.upstream_faults import ALWAYS
from harness.tap_script import Reply, TapRule
from harness.target import Agent, Facts, KeyFacts

MEND = "abort the session's children too (GET /session/{id}/children), and once more a moment later"
QUIET_SECONDS = 3.0
"""How long no model call may begin after the declared grace."""


HANG = Answer(fault="hang")
READ_OUTSIDE = Answer(text="", tool_calls=(ToolCall("read", '{"filePath":"/etc/hostname"}'),), finish="tool_calls")
"""opencode asks for a permission before it does this."""

UNANSWERED = Reply("POST", "/(permission|session)/[^/]+/(reply|permissions/[^/]+)", 200, True, ALWAYS)
"""Whatever is answered does not reach opencode, so that the child goes on waiting."""


@pytest.mark.requirement("AE-FAULT-11")
@pytest.mark.parametrize(
    ("child", "tampering"),
    [
        pytest.param((HANG,), (), id="whose model hangs"),
        pytest.param((READ_OUTSIDE, HANG), (UNANSWERED,), id="that waits for a permission"),
    ],
)
def test_giving_up_ends_a_child_session(
    client: Client,
    script: Script,
    journal: JournalReader,
    clock: Clock,
    nonce: Callable[[str], str],
    target: Facts,
    key: KeyFacts,
    agent: Agent,
    child: tuple[Answer, ...],
    tampering: tuple[TapRule, ...],
) -> None:
    """The agent hands a task to another one; at the deadline both come to rest."""
    task = {"description": "look it up", "prompt": nonce("child"), "subagent_type": "general"}
    call = Answer(text="", tool_calls=(ToolCall("task", json.dumps(task)),), finish="tool_calls")
    script.answer("child", *child, nonce=nonce("child"))
    script.answer("parent", call, HANG, nonce=nonce("asked"))
    script.tamper("permissions", *tampering)
    reply = client.send("ask", ask(agent.id, nonce("asked")), key=key.name)

    def calls_with(word: str, label: str) -> list[Exchange]:
        return [call for call in journal.read(label, "model") if nonce(word).encode() in call.request.body]

    clock.sleep("grace", target.abort_grace)
    before = calls_with("asked", "after the grace: parent") + calls_with("child", "after the grace: child")
    if not any(nonce("child").encode() in call.request.body for call in before):
        raise NotApplicable("the agent starts no child session when its model asks for one")
    expect_refusal(reply, {502, 504}, "a turn whose child does not end", "keep one deadline per turn")
    clock.sleep("quiet", QUIET_SECONDS)
    after = calls_with("asked", "after the quiet: parent") + calls_with("child", "after the quiet: child")
    still = [call for call in before if call.end == "open"]
    expect(not still, "every model call closed", f"{len(still)} still open", MEND, (still or [reply])[0])
    expect(len(after) == len(before), "no further model call", f"{len(after) - len(before)} more", MEND, reply)
