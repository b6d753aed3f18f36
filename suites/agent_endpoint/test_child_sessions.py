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
from harness.tap_script import Reply
from harness.target import Agent, Facts
from harness.target_keys import KeyFacts

MEND = "abort the session's children too (GET /session/{id}/children), and once more a moment later"
QUIET_SECONDS = 3.0
"""How long no model call may begin after the declared grace; less, over a stand-in with shorter waits."""


HANG = Answer(fault="hang")
READ_OUTSIDE = Answer(text="", tool_calls=(ToolCall("read", '{"filePath":"/etc/hostname"}'),), finish="tool_calls")
"""opencode asks for a permission before it does this."""

UNANSWERED = Reply("POST", "/(permission|session)/[^/]+/(reply|permissions/[^/]+)", 200, True, ALWAYS)
"""Whatever is answered does not reach opencode, so that the child goes on waiting."""


CHILDREN = {"hangs": (HANG,), "waits for a permission": (READ_OUTSIDE, HANG)}
"""What the child session of each turn comes to."""


@pytest.mark.waits
@pytest.mark.requirement("AE-FAULT-11")
def test_giving_up_ends_child_sessions(
    client: Client,
    script: Script,
    journal: JournalReader,
    clock: Clock,
    nonce: Callable[[str], str],
    target: Facts,
    key: KeyFacts,
    agent: Agent,
) -> None:
    """The agent hands a task to another one; at the deadline both come to rest."""
    for name, steps in CHILDREN.items():
        task = {"description": "look it up", "prompt": nonce(f"child {name}"), "subagent_type": "general"}
        call = Answer(text="", tool_calls=(ToolCall("task", json.dumps(task)),), finish="tool_calls")
        script.answer(f"child {name}", *steps, nonce=nonce(f"child {name}"))
        script.answer(f"parent {name}", call, HANG, nonce=nonce(f"parent {name}"))
    script.tamper("permissions", UNANSWERED)
    asked = [client.begin(f"ask {name}", ask(agent.id, nonce(f"parent {name}")), key=key.name) for name in CHILDREN]
    replies = {name: call.result() for name, call in zip(CHILDREN, asked, strict=True)}

    def calls_in(name: str, when: str) -> list[Exchange]:
        words = [nonce(f"{who} {name}").encode() for who in ("parent", "child")]
        calls = journal.read(f"{when}: {name}", "model")
        return [call for call in calls if any(word in call.request.body for word in words)]

    clock.sleep("grace", target.abort_grace)
    before = {name: calls_in(name, "after the grace") for name in CHILDREN}
    for name, calls in before.items():
        if not any(nonce(f"child {name}").encode() in call.request.body for call in calls):
            raise NotApplicable("the agent starts no child session when its model asks for one")
        expect_refusal(replies[name], {502, 504}, f"a turn whose child {name}", "keep one deadline per turn")
    clock.sleep("quiet", QUIET_SECONDS / target.pace)
    for name, calls in before.items():
        more = len(calls_in(name, "after the quiet")) - len(calls)
        still = [call for call in calls if call.end == "open"]
        came = f"{len(still)} still open"
        expect(not still, f"every model call closed when a child {name}", came, MEND, (still or [replies[name]])[0])
        expect(more == 0, f"no further model call when a child {name}", f"{more} more", MEND, replies[name])
