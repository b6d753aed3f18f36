"""The synchronous route."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from harness.actors import JournalReader, Script
from harness.check import expect
from harness.expectations import shown
from harness.fakes.model.script import Answer
from harness.opencode_calls import Opencode, await_calls, expect_unknown_error, idle, kinds, of, prompt

MEND = "do as opencode does"


@pytest.mark.requirement("OS-MESSAGE-1")
def test_the_answer_comes_when_the_turn_is_over(
    opencode: Opencode, script: Script, nonce: Callable[[str], str]
) -> None:
    """The message with its finish, and its parts; the list holds the same."""
    script.answer("answer", Answer(nonce("said")), nonce=nonce("asked"))
    session = opencode.session()
    reply = opencode.message("ask", session, nonce("asked"))
    body = reply.json() if isinstance(reply.json(), dict) else {}
    expect(reply.status == 200 and body.get("info", {}).get("finish") == "stop", "200 and stop", shown(reply), MEND)
    types = [part.get("type") for part in body.get("parts", [])]
    expect(types == ["step-start", "text", "step-finish"], "a step with its text", repr(types), MEND, reply)
    expect(body["parts"][1].get("text") == nonce("said"), "the model's text", shown(reply), MEND, reply)
    listed = opencode.messages("messages", session)
    ids = [message["info"]["id"] for message in listed if message["info"]["role"] == "assistant"]
    expect(ids == [body["info"].get("id")], "the same message in the list", repr(ids), MEND, reply)


@pytest.mark.requirement("OS-MESSAGE-2")
def test_a_failure_of_the_model_is_200_with_an_error(
    opencode: Opencode, script: Script, nonce: Callable[[str], str]
) -> None:
    """The status does not tell."""
    script.answer("refusal", Answer(status=400, message="no"), nonce=nonce("asked"))
    reply = opencode.message("ask", opencode.session(), nonce("asked"))
    body = reply.json() if isinstance(reply.json(), dict) else {}
    error = body.get("info", {}).get("error", {})
    right = reply.status == 200 and error.get("name") == "APIError"
    expect(right, "200 with info.error APIError", shown(reply), MEND, reply)


@pytest.mark.requirement("OS-MESSAGE-2")
def test_an_unknown_model_breaks(opencode: Opencode, nonce: Callable[[str], str]) -> None:
    """500, not 400."""
    model = {"providerID": "litellm", "modelID": "nope"}
    expect_unknown_error(opencode.message("ask", opencode.session(), nonce("asked"), model=model))


@pytest.mark.requirement("OS-MESSAGE-3")
def test_a_client_that_leaves_does_not_end_the_turn(
    opencode: Opencode, script: Script, journal: JournalReader, nonce: Callable[[str], str]
) -> None:
    """The turn goes on to its answer."""
    script.answer("answer", Answer("a slow answer", piece=2, pause=0.1), nonce=nonce("asked"))
    ear = opencode.listen()
    session = opencode.session()
    call = opencode.begin("ask", "POST", f"/session/{session}/message", prompt(nonce("asked")))
    await_calls(journal, "asked", nonce("asked"))
    left = call.leave()
    events = of(session, ear.until("idle", idle(session)))
    expect("session.error" not in kinds(events), "no error", repr(kinds(events)), MEND, left)
    finishes = [message["info"].get("finish") for message in opencode.messages("messages", session)]
    expect(finishes[-1:] == ["stop"], "a turn that stopped by itself", repr(finishes), MEND, left)
