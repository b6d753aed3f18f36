"""An error of the session ends the turn as a failure, and only that session's does."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from harness.actors import Client, JournalReader, Script
from harness.chat import ask, prompts_in
from harness.check import expect
from harness.exchange import Exchange
from harness.expectations import expect_completion, expect_reached, expect_refusal, expect_said, shown
from harness.failed_turns import expect_failed
from harness.fakes.model.script import Answer
from harness.tap_script import SESSION, Inject, Reply
from harness.target import Agent, Facts
from harness.target_keys import KeyFacts

MEND = "end the turn at a session.error of its session, without waiting for idle, and answer 502"
PROMPT_SECONDS = 3.0
"""How long a failure that is known may take to reach the client: long for a loaded machine, short for a person."""


def promptly(target: Facts) -> float:
    """The time for it at a target, in seconds: never as long as the deadline, which would show nothing."""
    return min(PROMPT_SECONDS, target.deadline / 2)


OVER_WINDOW = Answer(
    status=400,
    message="This model's maximum context length is 8192 tokens. However, you requested 10000 tokens "
    "(9000 in the messages, 1000 in the completion). Please reduce the length of the messages or completion.",
)

ERRORS: dict[str, dict[str, Any]] = {
    "ProviderAuthError": {"providerID": "litellm", "message": "no credentials"},
    "UnknownError": {"message": "something broke"},
    "MessageOutputLengthError": {},
    "MessageAbortedError": {"message": "Aborted"},
    "StructuredOutputError": {"message": "no JSON", "retries": 2},
    "ContentFilterError": {"message": "filtered"},
    "APIError": {"message": "boom", "statusCode": 500, "isRetryable": False},
}
"""The errors of a session that a 1.18.33 server documents under `/doc`, but ContextOverflowError, after which it
tries to recover."""


def expect_prompt_failure(reply: Exchange, target: Facts, why: str) -> None:
    """A 502, or in a stream what stands for it, soon after the error."""
    expect_failed(reply, why, MEND)
    limit = promptly(target)
    late = reply.duration is None or reply.duration > limit
    expect(not late, f"the 502 within {limit:g} s for {why}", f"{reply.duration or 0:.2f} s", MEND, reply)


@pytest.mark.requirement("AE-FAULT-3")
@pytest.mark.parametrize("name", ERRORS)
def test_an_error_without_an_idle_is_a_prompt_failure(
    both_ways: Callable[..., tuple[Exchange, Exchange]], journal: JournalReader, target: Facts, name: str
) -> None:
    """Each error name ends the turn at once, although the model hangs and no idle ever comes."""
    error = {"name": name, "data": ERRORS[name]}
    event = {"id": "evt_turnproof", "type": "session.error", "properties": {"sessionID": SESSION, "error": error}}
    reply, streamed = both_ways(
        Answer(fault="hang"),
        tampering=(
            Inject("session.status", (event,), status="busy"),
            Reply("POST", "/session/[^/]+/message", 200, {"info": failed_message(error), "parts": []}),
        ),
    )
    tampered = any(exchange.fault for exchange in journal.read("tampered", "opencode"))
    expect(
        tampered,
        "a turn that is followed by events, or by the synchronous route",
        shown(reply),
        "subscribe to the session's events before the prompt",
        reply,
    )
    expect_prompt_failure(reply, target, f"a session.error {name}")
    expect_prompt_failure(streamed, target, f"a session.error {name} in a streamed turn")


def failed_message(error: dict[str, Any]) -> dict[str, Any]:
    """What the synchronous route answers with for a turn that failed."""
    return {
        "id": "msg_turnproof",
        "sessionID": SESSION,
        "role": "assistant",
        "time": {"created": 1, "completed": 2},
        "error": error,
    }


@pytest.mark.requirement("AE-FAULT-3")
@pytest.mark.parametrize(
    "answer",
    [
        pytest.param(OVER_WINDOW, id="context overflow"),
        pytest.param(Answer(status=401, message="bad key"), id="model server refuses the key"),
        pytest.param(Answer(status=400, message="no such parameter"), id="model server refuses the request"),
        pytest.param(Answer(text="half of it", fault="bad_chunk"), id="model server sends a broken chunk"),
    ],
)
def test_a_failure_of_the_model_is_a_prompt_failure(
    client: Client,
    script: Script,
    journal: JournalReader,
    nonce: Callable[[str], str],
    target: Facts,
    key: KeyFacts,
    agent: Agent,
    answer: Answer,
) -> None:
    """What the model server does wrong reaches the client as a 502, and soon."""
    script.answer("failure", answer, nonce=nonce("asked"), summary=answer)
    reply = client.send("ask", ask(agent.id, nonce("asked")), key=key.name)
    expect_prompt_failure(reply, target, "a model server's failure")
    expect_reached(journal, nonce("asked"), reply, "a model server's failure")


@pytest.mark.requirement("AE-FAULT-3")
@pytest.mark.parametrize("session", ["ses_0000000000000000000000turnproof", None], ids=["another", "none"])
def test_an_error_of_another_session_changes_nothing(
    client: Client,
    script: Script,
    journal: JournalReader,
    nonce: Callable[[str], str],
    key: KeyFacts,
    agent: Agent,
    session: str | None,
) -> None:
    """The stream carries every session's events, and some of none; the turn goes on to its answer."""
    properties: dict[str, Any] = {"error": {"name": "UnknownError", "data": {"message": "not yours"}}}
    if session is not None:
        properties["sessionID"] = session
    event = {"id": "evt_turnproof", "type": "session.error", "properties": properties}
    script.tamper("foreign error", Inject("session.status", (event,), status="busy"))
    script.answer("answer", Answer(text=nonce("said"), pause=0.05), nonce=nonce("asked"))
    reply = client.send("ask", ask(agent.id, nonce("asked")), key=key.name)
    content = expect_completion(reply, "a turn during which another session failed")
    expect_said(content, nonce("said"), reply)
    expect(
        len(prompts_in(journal.read("opencode", "opencode"))) == 1,
        "one prompt",
        shown(reply),
        "do not start the turn again at another session's error",
        reply,
    )


@pytest.mark.requirement("AE-FAULT-3")
def test_after_a_recovered_overflow_the_summary_is_not_the_answer(
    client: Client, script: Script, journal: JournalReader, nonce: Callable[[str], str], key: KeyFacts, agent: Agent
) -> None:
    """opencode compacts and goes on: the later answer, or a 502, but never the summary it made on the way."""
    steps = (OVER_WINDOW, Answer(text=nonce("said")))
    script.answer("overflow, then answer", *steps, summary=Answer(text=nonce("summary")))
    reply = client.send("ask", ask(agent.id, nonce("asked")), key=key.name)
    mend = "leave messages of a compaction out when looking for the answer"
    expect(nonce("summary") not in reply.text, "no compaction summary in the answer", shown(reply), mend, reply)
    if reply.status == 502:
        expect_refusal(reply, {502}, "a context overflow", MEND)
        expect_reached(journal, nonce("asked"), reply, "a context overflow")
    else:
        expect_said(expect_completion(reply, "a recovered overflow"), nonce("said"), reply)
