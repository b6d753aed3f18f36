"""A turn is followed from its beginning, and where it runs."""

from __future__ import annotations

from collections.abc import Callable
from urllib.parse import parse_qs, unquote, urlsplit

import pytest

from harness.actors import Client, JournalReader, Script
from harness.chat import ask
from harness.check import NotApplicable, expect
from harness.exchange import Exchange, Request, header
from harness.expectations import expect_completion, expect_said, expect_stream, shown
from harness.fakes.model.script import Answer
from harness.tap_script import SESSION, Delay, Inject, Reply
from harness.target import Agent, Facts
from harness.target_keys import KeyFacts

SUBSCRIPTION_PART = 0.25
"""How long a subscription is kept from opencode, as a part of the deadline: longer than a turn takes."""

ATTEMPTS = 3


@pytest.mark.requirement("AE-TURN-6")
@pytest.mark.parametrize("stream", [False, True], ids=["json", "stream"])
def test_a_turn_that_is_over_before_the_subscription_is_not_lost(
    client: Client,
    script: Script,
    nonce: Callable[[str], str],
    target: Facts,
    key: KeyFacts,
    agent: Agent,
    stream: bool,
) -> None:
    """The subscription is slow and the turn quick: who prompts without waiting for it never hears of the end."""
    wait = min(1.0, SUBSCRIPTION_PART * target.deadline)
    script.tamper("slow subscription", Delay("GET", "/event|/global/event", wait, times=100))
    script.answer("answer", Answer(text=nonce("said")), nonce=nonce("asked"))
    reply = client.send("ask", ask(agent.id, nonce("asked"), stream=stream), key=key.name)
    why = "a turn that is over at once"
    mend = "await the first event of the subscription before the prompt is sent"
    expect(reply.status == 200, f"a 200 for {why}", shown(reply), mend, reply)
    text = expect_stream(reply, why).text if stream else expect_completion(reply, why)
    expect_said(text, nonce("said"), reply)


def folder_of(request: Request) -> str | None:
    """The folder that a request to opencode names; None where it leaves it to the server."""
    named = parse_qs(urlsplit(request.target).query).get("directory")
    folder = named[0] if named else header(request.headers, "x-opencode-directory")
    return unquote(folder) if folder else None


def folders_of(exchanges: tuple[Exchange, ...]) -> dict[str, str]:
    """The folder of each session that was created in a named one, by its id."""
    folders: dict[str, str] = {}
    for exchange in exchanges:
        session, folder = exchange.json(), folder_of(exchange.request)
        if exchange.request.method == "POST" and exchange.request.path == "/session" and isinstance(session, dict):
            folders |= {str(session.get("id")): folder} if folder else {}
    return folders


@pytest.fixture
def everybody(target: Facts) -> list[tuple[KeyFacts, Agent]]:
    """Each agent that may have a model, with a key that may use it."""
    found = []
    for agent in target.agents:
        keys = [key for key in target.keys if key.state == "valid" and agent.id in key.agents]
        if keys and not agent.no_model:
            found.append((keys[0], agent))
    return found


@pytest.mark.requirement("AE-TURN-9")
def test_the_events_of_a_folders_session_are_heard(
    client: Client,
    script: Script,
    journal: JournalReader,
    nonce: Callable[[str], str],
    everybody: list[tuple[KeyFacts, Agent]],
) -> None:
    """A session in a folder has its events there, and nowhere else: an agent that has one answers.

    Each may be asked again: opencode takes seconds to open a folder, which are not the target's.
    """
    replies = []
    for key, agent in everybody:
        script.answer(f"answer {agent.id}", Answer(text=nonce(f"said {agent.id}")), nonce=nonce(f"asked {agent.id}"))
        for attempt in range(ATTEMPTS):
            request = ask(agent.id, nonce(f"asked {agent.id}"))
            reply = client.send(f"ask {agent.id} {attempt}", request, key=key.name)
            if reply.status == 200:
                break
        replies.append((agent, reply))
    if not folders_of(journal.read("sessions", "opencode")):
        raise NotApplicable("no session is created in a folder of its own")
    for agent, reply in replies:
        mend = "subscribe to the events of the folder that the session was created in"
        expect(reply.status == 200, f"an answer of {agent.id}", shown(reply), mend, reply)
        expect_said(expect_completion(reply, f"agent {agent.id}"), nonce(f"said {agent.id}"), reply)


ASKED = {
    "id": "evt_turnproof",
    "type": "permission.asked",
    "properties": {
        "id": f"per_{SESSION}",
        "sessionID": SESSION,
        "permission": "external_directory",
        "patterns": ["/tmp/*"],
        "metadata": {},
        "always": ["/tmp/*"],
    },
}


@pytest.mark.requirement("AE-TURN-9")
def test_a_permission_is_answered_in_its_sessions_folder(
    client: Client,
    script: Script,
    journal: JournalReader,
    nonce: Callable[[str], str],
    everybody: list[tuple[KeyFacts, Agent]],
) -> None:
    """Where the endpoint answers a question, the answer goes to the folder in which it was asked."""
    script.tamper(
        "question",
        Inject("session.status", (ASKED,), status="busy", times=100),
        Reply("POST", "/permission/per_.*|/session/[^/]+/permissions/per_.*", 200, True, times=1000),
    )
    for key, agent in everybody:
        script.answer(f"answer {agent.id}", Answer(text=nonce(f"said {agent.id}")), nonce=nonce(f"asked {agent.id}"))
        client.send(f"ask {agent.id}", ask(agent.id, nonce(f"asked {agent.id}")), key=key.name)
    seen = journal.read("opencode", "opencode")
    folders = folders_of(seen)
    if not folders:
        raise NotApplicable("no session is created in a folder of its own")
    answers = [exchange for exchange in seen if "per_" in exchange.request.path]
    if not answers:
        raise NotApplicable("the endpoint answers no permission question")
    for answer in answers:
        for session, folder in folders.items():
            named = folder_of(answer.request)
            stray = f"per_{session}" in answer.request.path and named != folder
            mend = "name the session's folder when a permission question is answered"
            expect(not stray, f"the answer in {folder}", f"in {named or 'the default folder'}", mend, answer)
