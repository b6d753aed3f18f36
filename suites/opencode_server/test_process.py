"""The server as a process: its user, its end, and what it finds when it is started again."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from harness.actors import JournalReader, Script
from harness.check import Inconclusive, expect
from harness.exchange import Exchange, Request
from harness.expectations import shown
from harness.fakes.model.script import Answer
from harness.opencode_calls import WITHIN, post, prompt
from harness.opencode_processes import OwnServers

AT_ONCE = 3.0
"""Seconds in which a server that ends at once has ended, on a loaded machine too."""

HEALTH = Request("GET", "/global/health", (("accept-encoding", "identity"),))


@pytest.fixture
def hanging(
    servers: OwnServers, script: Script, journal: JournalReader, nonce: Callable[[str], str]
) -> Callable[[str], str]:
    """Starts a server of a name and a turn in it that does not end: the id of the session."""

    def begin(name: str) -> str:
        script.answer("hang", Answer(fault="hang"), nonce=nonce("asked"))
        servers.start("start", name)
        created = servers.send("session", name, post("/session", {"title": "checked"}))
        session = created.json()
        if created.status != 200 or not isinstance(session, dict):
            raise Inconclusive(f"no session came to be: {shown(created)}")
        servers.send("ask", name, post(f"/session/{session['id']}/prompt_async", prompt(nonce("asked"))))

        def called(calls: tuple[Exchange, ...]) -> bool:
            return any(nonce("asked").encode() in call.request.body for call in calls)

        if not called(journal.wait("the turn is under way", "model", called, WITHIN)):
            raise Inconclusive("the turn did not call the model")
        return str(session["id"])

    return begin


@pytest.mark.requirement("OS-AUTH-2")
def test_the_user_has_another_name(servers: OwnServers) -> None:
    """With the right password, only the named user is let in."""
    servers.start("start", "named", username="keeper")
    own = servers.send("as that user", "named", HEALTH)
    mend = "take the user's name from OPENCODE_SERVER_USERNAME"
    expect(own.status == 200, "200 for the user of OPENCODE_SERVER_USERNAME", shown(own), mend, own)
    usual = servers.send("as the usual user", "named", HEALTH, known=False)
    expect(usual.status == 401, "401 for the user `opencode`", shown(usual), mend, usual)


@pytest.mark.requirement("OS-START-1")
def test_the_server_comes_up_as_it_may_be_started(servers: OwnServers) -> None:
    """With every option that it documents, and with comments and a last comma in its configuration."""
    options = ("--print-logs", "--log-level", "ERROR", "--pure", "--mdns=false", "--cors", "http://127.0.0.1:1")
    up = servers.comes_up("start", "optioned", *options)
    expect(up, "a server that listens", "none", "take the options, and JSON with comments")


@pytest.mark.requirement("OS-STOP-1")
def test_sigterm_ends_the_server_at_once(servers: OwnServers, hanging: Callable[[str], str]) -> None:
    """A turn under way is not waited for."""
    hanging("stopped")
    status, seconds = servers.terminate("SIGTERM", "stopped")
    came = "it goes on" if status is None else f"it ended after {seconds:.1f} s with {status}"
    expect(status is not None and seconds < AT_ONCE, "an end at once", came, "end at SIGTERM")


@pytest.mark.requirement("OS-STOP-2")
def test_a_message_that_a_restart_cut_off_has_neither_finish_nor_error(
    servers: OwnServers, hanging: Callable[[str], str]
) -> None:
    """Who looks for an error or a finish waits for ever."""
    session = hanging("restarted")
    servers.terminate("SIGTERM", "restarted")
    servers.start("start again", "restarted")
    reply = servers.send("messages", "restarted", Request("GET", f"/session/{session}/message", HEALTH.headers))
    messages = reply.json()
    mend = "keep messages on disk as they were told"
    expect(reply.status == 200 and isinstance(messages, list), "the session's messages", shown(reply), mend, reply)
    infos = [message["info"] for message in messages if message["info"]["role"] == "assistant"]
    expect(len(infos) == 1, "one message of the assistant", f"{len(infos)}", mend, reply)
    marks = {name: infos[0][name] for name in ("finish", "error") if name in infos[0]}
    expect(not marks, "neither finish nor error in the message", json.dumps(marks), mend, reply)
