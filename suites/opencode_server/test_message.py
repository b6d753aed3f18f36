"""The synchronous route."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from harness.actors import JournalReader, Script
from harness.check import expect
from harness.expectations import shown
from harness.fakes.model.script import Answer
from harness.opencode_calls import (
    Opencode,
    await_calls,
    expect_not_found,
    expect_unknown_error,
    idle,
    kinds,
    of,
    prompt,
)

MEND = "do as opencode does"


@pytest.mark.requirement("OS-MESSAGE-1")
def test_the_answer_comes_when_the_turn_is_over(
    opencode: Opencode, script: Script, nonce: Callable[[str], str]
) -> None:
    """The message with its finish, and its parts; the list holds the same. A second call has its own answer."""
    script.answer("answer", Answer(nonce("said")), Answer(nonce("said again")), nonce=nonce("asked"))
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
    second = opencode.message("ask again", session, "more")
    said = [part.get("text") for part in second.json()["parts"] if part.get("type") == "text"]
    expect(said == [nonce("said again")], "the answer to the second call", shown(second), MEND, second)


@pytest.mark.requirement("OS-MESSAGE-4")
def test_messages_are_listed_in_order(opencode: Opencode, script: Script, nonce: Callable[[str], str]) -> None:
    """All, the last so many, or one by its id."""
    script.answer("answers", Answer("one"), Answer("two"), nonce=nonce("asked"))
    session = opencode.session()
    for text in (nonce("asked"), "more"):
        opencode.message(text, session, text)
    listed = opencode.messages("all", session)
    order = [(entry["info"]["role"], entry["info"].get("parentID")) for entry in listed]
    users = [entry["info"]["id"] for entry in listed if entry["info"]["role"] == "user"]
    wanted = [item for user in users for item in (("user", None), ("assistant", user))]
    expect(len(listed) == 4 and order == wanted, "each prompt and its answer", repr(order), MEND)
    for limit in (1, 3):
        last = opencode.call(f"the last {limit}", "GET", f"/session/{session}/message?limit={limit}")
        expect(last.json() == listed[-limit:], f"the last {limit}", shown(last), MEND, last)
    one = opencode.call("one", "GET", f"/session/{session}/message/{listed[1]['info']['id']}")
    expect(one.status == 200 and one.json() == listed[1], "the message of that id", shown(one), MEND, one)
    none = opencode.call("none", "GET", f"/session/{session}/message/msg_x")
    expect_not_found(none, "Message not found: msg_x")


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
