"""Each request has one turn, and nothing in common with others."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

import pytest

from harness.actors import Client, JournalReader, Script
from harness.chat import ask, prompts_in
from harness.check import expect
from harness.exchange import Exchange
from harness.expectations import (
    expect_answer,
    expect_completion,
    expect_no_calls,
    expect_refusal,
    expect_said,
    expect_stream,
)
from harness.fakes.model.script import Answer
from harness.fixtures.opencode_events import event, failed, synchronous
from harness.tap_script import Inject
from harness.target import Agent
from harness.target_keys import KeyFacts

ONE = "drive one turn per request, and start none again"
OWN = "create a session for each request"


def session_of(prompt: Exchange) -> str:
    """The id of the session that a prompt went to."""
    found = re.match(r"/session/([^/]+)/", prompt.request.path)
    return found.group(1) if found else ""


def expect_one_prompt(journal: JournalReader, label: str, reply: Exchange, why: str) -> Exchange:
    """Exactly one prompt was sent in this check; the prompt."""
    prompts = prompts_in(journal.read(label, "opencode"))
    expect(len(prompts) == 1, f"exactly one prompt for {why}", f"{len(prompts)} prompts", ONE, (*prompts, reply)[-1])
    return prompts[0]


@pytest.mark.requirement("AE-TURN-1")
@pytest.mark.parametrize("stream", [False, True], ids=["json", "stream"])
def test_one_request_drives_one_prompt(
    client: Client,
    script: Script,
    journal: JournalReader,
    nonce: Callable[[str], str],
    key: KeyFacts,
    agent: Agent,
    stream: bool,
) -> None:
    """A turn that is answered was driven once."""
    script.answer("answer", Answer(text=nonce("said")), nonce=nonce("asked"))
    reply = client.send("ask", ask(agent.id, nonce("asked"), stream=stream), key=key.name)
    text = expect_stream(reply, "a stream").text if stream else expect_completion(reply, "a completion")
    expect_said(text, nonce("said"), reply)
    expect_one_prompt(journal, "prompts", reply, "one request")


@pytest.mark.requirement("AE-TURN-1")
@pytest.mark.parametrize("stream", [False, True], ids=["json", "stream"])
def test_a_failed_turn_is_not_driven_again(
    client: Client,
    script: Script,
    journal: JournalReader,
    nonce: Callable[[str], str],
    key: KeyFacts,
    agent: Agent,
    stream: bool,
) -> None:
    """An agent may have done half of its work: whether it shall do it again is the client's choice."""
    script.answer("failure", Answer(status=400, message="no such parameter"), nonce=nonce("asked"))
    reply = client.send("ask", ask(agent.id, nonce("asked"), stream=stream), key=key.name)
    if not (stream and reply.content_type == "text/event-stream"):
        expect_refusal(reply, {502}, "a failed turn", "answer 502")
    expect_one_prompt(journal, "prompts", reply, "a turn that fails")


@pytest.mark.requirement("AE-TURN-1")
@pytest.mark.parametrize("stream", [False, True], ids=["json", "stream"])
def test_a_request_sees_nothing_of_the_one_before(
    client: Client,
    script: Script,
    journal: JournalReader,
    nonce: Callable[[str], str],
    key: KeyFacts,
    agent: Agent,
    stream: bool,
) -> None:
    """The same question twice, and another: three sessions, and the model hears of no earlier answer."""
    answers = [Answer(text=nonce(f"said {number}")) for number in (1, 2, 3)]
    script.answer("answers", *answers, nonce=nonce("asked"))
    questions = [nonce("asked"), nonce("asked"), f"And then? {nonce('asked')}"]
    for number, question in enumerate(questions, 1):
        reply = client.send(f"ask {number}", ask(agent.id, question, stream=stream), key=key.name)
        expect_said(expect_answer(reply, f"request {number}"), nonce(f"said {number}"), reply)
    prompts = prompts_in(journal.read("prompts", "opencode"))
    sessions = {session_of(prompt) for prompt in prompts}
    apart = len(prompts) == len(sessions) == len(questions)
    came = f"{len(prompts)} prompts to {len(sessions)} sessions"
    expect(
        apart, f"{len(questions)} prompts, each to a session of its own", came, OWN, prompts[-1] if prompts else None
    )
    for call in journal.read("calls", "model"):
        known = [n for n in (1, 2, 3) if nonce(f"said {n}").encode() in call.request.body]
        expect(not known, "no answer of an earlier request in a model call", f"answers {known}", OWN, call)


@pytest.mark.requirement("AE-TURN-3")
@pytest.mark.parametrize("stream", [False, True], ids=["json", "stream"])
def test_an_agent_without_a_model_is_refused(
    client: Client,
    script: Script,
    journal: JournalReader,
    nonce: Callable[[str], str],
    key: KeyFacts,
    agent: Agent,
    modelless: tuple[KeyFacts, Agent],
    stream: bool,
) -> None:
    """It cannot be driven with another agent's model, nor with opencode's default one."""
    its_key, without = modelless
    refused = client.send("refused", ask(without.id, nonce("refused"), stream=stream), key=its_key.name)
    mend = "answer 400 invalid_request_error when the agent has no model"
    expect_refusal(refused, {400}, "an agent without a model", mend)
    came = refused.json()["error"].get("type")
    expect(came == "invalid_request_error", "error.type 'invalid_request_error'", repr(came), mend, refused)
    prompts = prompts_in(journal.read("opencode", "opencode"))
    expect_no_calls(prompts, "opencode", "an agent without a model")
    expect_no_calls(journal.read("model", "model"), "the model server", "an agent without a model")
    script.answer("answer", Answer(text=nonce("said")), nonce=nonce("asked"))
    reply = client.send("ask", ask(agent.id, nonce("asked")), key=key.name)
    expect_said(expect_completion(reply, "an agent with a model"), nonce("said"), reply)


@pytest.mark.requirement("AE-TURN-5")
@pytest.mark.parametrize("stream", [False, True], ids=["json", "stream"])
def test_requests_to_opencode_carry_the_password(
    client: Client,
    script: Script,
    journal: JournalReader,
    nonce: Callable[[str], str],
    key: KeyFacts,
    agent: Agent,
    stream: bool,
) -> None:
    """What is asked without it, or with a wrong one, was asked again with the right one."""
    script.answer("answer", Answer(text=nonce("said")), nonce=nonce("asked"))
    reply = client.send("ask", ask(agent.id, nonce("asked"), stream=stream), key=key.name)
    text = expect_stream(reply, "a stream").text if stream else expect_completion(reply, "a completion")
    expect_said(text, nonce("said"), reply)
    expect_password(journal.read("opencode", "opencode"), reply)


ASKING = (
    event("permission.asked", id="per_turnproof", permission="bash", patterns=["*"], metadata={}, always=["*"]),
    event("question.asked", id="que_turnproof", questions=[{"question": "Which?", "header": "Which", "options": []}]),
)
BROKEN = {"name": "UnknownError", "data": {"message": "something broke"}}


@pytest.mark.requirement("AE-TURN-5")
def test_requests_about_a_turn_that_asks_and_fails_carry_the_password(
    both_ways: Callable[..., tuple[Exchange, Exchange]],
    journal: JournalReader,
    expect_plain_turn: Callable[[str], None],
) -> None:
    """So do the answers to what the agent asks, and all that ends its turn, if there are any."""
    expect_plain_turn("before")
    asks_and_fails = Inject("session.status", (*ASKING, failed(BROKEN)), status="busy")
    replies = both_ways(Answer(fault="hang"), tampering=(asks_and_fails, synchronous(error=BROKEN)))
    expect_password(journal.read("opencode", "opencode"), replies[-1])


def expect_password(seen: Sequence[Exchange], reply: Exchange) -> None:
    """Every request to opencode, and there are some, came with the password, or was made again with it."""
    let_in = {(e.request.method, e.request.target) for e in seen if has_password(e)}
    turned_away = [e for e in seen if (e.request.method, e.request.target) not in let_in]
    mend = "send the server password as HTTP Basic with every request to opencode"
    came = f"{len(turned_away)} of {len(seen)} without it"
    expect(bool(let_in), "requests to opencode", "none", "drive the turn at the opencode that is given", reply)
    expect(not turned_away, "HTTP Basic that opencode accepts with every request", came, mend, (*turned_away, reply)[0])


def has_password(exchange: Exchange) -> bool:
    """Whether a request to opencode came with HTTP Basic and was not turned away."""
    headers = {name.lower(): value for name, value in exchange.request.headers}
    return headers.get("authorization", "").lower().startswith("basic ") and exchange.status not in (401, 403)
