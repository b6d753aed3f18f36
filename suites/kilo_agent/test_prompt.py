"""What of a request reaches the model, and what is refused."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from harness.actors import JournalReader, Script
from harness.check import expect
from harness.exchange import Exchange
from harness.expectations import expect_no_calls, shown
from harness.fakes.model.script import Answer, messages_of
from harness.fixtures.kilo_agent import PLAIN, Turn
from harness.kilo_agent_actors import Agents
from harness.kilo_answers import expect_answered

Nonce = Callable[[str], str]
SYSTEM_WORD = "tpsystemword"
BRIEFED: Mapping[str, Any] = {**PLAIN, "system_prompt": f"Remember {SYSTEM_WORD}."}
"""An agent with a system prompt of its own."""

EXTREMES: Mapping[str, Callable[[str], str]] = {
    "longer than an argument": lambda word: "x" * 200_000 + word,
    "with NUL": lambda word: f"before\0after {word}",
    "with an unpaired surrogate": lambda word: f"before \ud800 after {word}",
}


def _message(role: str, text: str) -> dict[str, Any]:
    kind = "output_text" if role == "assistant" else "input_text"
    return {"type": "message", "role": role, "content": [{"type": kind, "text": text}]}


def _prompts(calls: tuple[Exchange, ...]) -> str:
    """All that the model read."""
    return "\n".join(text for call in calls for _, text in messages_of(call.request.json()))


def _refused(reply: Exchange) -> bool:
    """Whether a request is refused as the client's mistake, in words."""
    status = reply.status or 0
    body = reply.json()
    error = body.get("error") or body.get("detail") if isinstance(body, dict) else None
    return 400 <= status < 500 and bool(error)


CONVERSATIONS: Mapping[str, Callable[[Nonce], Any]] = {
    "instructions": lambda nonce: {"instructions": nonce("first"), "input": nonce("last")},
    "system message": lambda nonce: {"input": [_message("system", nonce("first")), _message("user", nonce("last"))]},
    "earlier turns": lambda nonce: {
        "input": [
            _message("user", nonce("first")),
            _message("assistant", nonce("second")),
            {"role": "user", "content": nonce("last")},
        ]
    },
}


@pytest.mark.requirement("KA-PROMPT-1")
@pytest.mark.parametrize("kind", CONVERSATIONS)
def test_the_whole_conversation_reaches_the_model(
    starter: Agents, script: Script, journal: JournalReader, nonce: Nonce, agent_turn: Turn, kind: str
) -> None:
    """Or the request is refused; nothing of it is dropped in silence."""
    agent = starter.start("agent", BRIEFED)
    agent_turn(agent, "control")
    control = _prompts(journal.read("control calls", "model"))
    mend = "pass on the system prompt, the instructions and all turns, or refuse them"
    expect(SYSTEM_WORD in control, "the system prompt of the configuration at the model", control[-500:], mend)
    script.answer("script", Answer(text=nonce("said")), nonce=nonce("last"))
    body = CONVERSATIONS[kind](nonce)
    reply = agent.respond("reply", body)
    calls = journal.read("calls", "model")
    words = [nonce(name) for name in ("first", "second", "last") if nonce(name) in str(body)]
    missing = [word for word in words if word not in _prompts(calls)]
    if _refused(reply):
        expect(missing == words, "nothing of a refused request at the model", f"all but {missing}", mend, reply)
    else:
        expect_answered(reply, nonce("said"), f"a request with {kind}")
        expect(not missing, f"all of {words} at the model", f"without {missing}", mend, reply)


@pytest.mark.requirement("KA-PROMPT-1")
@pytest.mark.parametrize("kind", EXTREMES)
def test_a_prompt_that_no_argument_can_hold(
    starter: Agents, script: Script, journal: JournalReader, nonce: Nonce, agent_turn: Turn, kind: str
) -> None:
    """It arrives whole, or is refused in words and goes nowhere; the agent lives."""
    agent = starter.start("agent", PLAIN)
    script.answer("script", Answer(text=nonce("said")), nonce=nonce("asked"))
    prompt = EXTREMES[kind](nonce("asked"))
    reply = agent.respond("reply", prompt)
    calls = [call for call in journal.read("calls", "model") if nonce("asked").encode() in call.request.body]
    if _refused(reply):
        expect_no_calls(calls, "the model server", f"a refused prompt {kind}")
    else:
        mend = "refuse with 400 what cannot be passed on, or pass it on in another way than as an argument"
        expect(reply.status == 200, f"a refusal or an answer to a prompt {kind}", shown(reply), mend, reply)
        expect_answered(reply, nonce("said"), f"a prompt {kind} that was not refused")
        whole = prompt in _prompts(tuple(calls))
        expect(whole, "the prompt whole at the model", f"{len(_prompts(tuple(calls)))} characters", mend, reply)
    agent_turn(agent, "after")
