"""Events that are not about the turn, or that come when it is over, change nothing."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from harness.actors import Client, JournalReader, Script
from harness.chat import ask, prompts_in
from harness.check import expect
from harness.expectations import expect_completion, shown
from harness.fakes.model.script import Answer
from harness.fixtures.opencode_events import FOREIGN, event, foreign_turn, idle, status, user_message
from harness.tap_script import SESSION, Inject
from harness.target import Agent
from harness.target_keys import KeyFacts
from harness.telling import beginning

MEND = "look only at events of the turn's own session, and only from its prompt to its first idle"
FOREIGN_TEXT = "This was said in another session."
CHILD = event("session.created", FOREIGN, info={"id": FOREIGN, "parentID": SESSION, "title": "a child"})

NOISE = [
    pytest.param((Inject("session.status", foreign_turn(FOREIGN_TEXT), status="busy"),), id="another session"),
    pytest.param(
        (Inject("server.connected", idle(), times=9), Inject("session.created", idle(), times=9)),
        id="idle before the prompt",
    ),
    pytest.param(
        (Inject("session.status", (CHILD, status("busy", FOREIGN), *idle(FOREIGN)), status="busy"),),
        id="idle of a child session",
    ),
    pytest.param((Inject("session.idle", (*idle(), *idle())),), id="a second idle"),
    pytest.param(
        (Inject("session.status", (user_message(),), status="idle"), Inject("session.idle", (user_message(),))),
        id="user message after idle",
    ),
]


@pytest.mark.requirement("AE-REPLY-6")
@pytest.mark.parametrize("noise", NOISE)
def test_a_turn_is_not_disturbed_by(
    client: Client,
    script: Script,
    journal: JournalReader,
    nonce: Callable[[str], str],
    key: KeyFacts,
    agent: Agent,
    expect_plain_turn: Callable[[str], None],
    noise: tuple[Inject, ...],
) -> None:
    """The turn goes on to its own answer, and so does the next one."""
    script.tamper("noise", *noise)
    script.answer("answer", Answer(text=nonce("said"), pause=0.05), nonce=nonce("asked"))
    reply = client.send("ask", ask(agent.id, nonce("asked")), key=key.name)
    content = expect_completion(reply, "a turn with other events in between")
    expect(
        content == nonce("said"), f"the turn's own text, {nonce('said')}", beginning(content) or "no text", MEND, reply
    )
    prompts = prompts_in(journal.read("opencode", "opencode"))
    expect(len(prompts) == 1, "one prompt", f"{len(prompts)}; {shown(reply)}", MEND, reply)
    script.desist("nothing more")
    expect_plain_turn("afterwards")
