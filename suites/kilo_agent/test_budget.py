"""Whether a request fits the model's window, and what is said when it does not."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from harness.actors import JournalReader, Script
from harness.check import expect
from harness.expectations import shown
from harness.fakes.model.script import Answer
from harness.fixtures.kilo_agent import PLAIN
from harness.kilo_agent_actors import Agents, Kilo
from harness.kilo_answers import expect_answered

GREEDY: Mapping[str, Any] = {**PLAIN, "max_output_tokens": 32000}
"""An output budget that leaves no room for the CLI's own prompt in the default window."""

UNCAPPED = {"window": False}
"""The rules of a CLI that asks for its whole budget, whatever the window."""

SILENT = {**UNCAPPED, "empty": 0, "failed": 0}
"""And that ends well although it has nothing to say."""

_BUDGET = re.compile(
    r"context[ _-]?(length|window|size)"
    r"|output[ _-]?(token[ _-])?(budget|limit)"
    r"|max[_ -](output[_ -]|completion[_ -])?tokens",
    re.IGNORECASE,
)


@pytest.mark.requirement("KA-BUDGET-1")
def test_the_default_budget_fits_the_window(
    starter: Agents, script: Script, nonce: Callable[[str], str], journal: JournalReader
) -> None:
    """A server with a window of 32768 tokens, which counts prompt and output, answers the request."""
    _expect_room(starter, script, nonce, journal)


@pytest.mark.requirement("KA-BUDGET-1")
def test_the_default_budget_fits_without_a_look_at_the_window(
    starter: Agents, cli_behind: Kilo, script: Script, nonce: Callable[[str], str], journal: JournalReader
) -> None:
    """Also when the CLI asks for its whole budget, as some versions do."""
    cli_behind.behave("behave", UNCAPPED)
    _expect_room(starter, script, nonce, journal)


def _expect_room(starter: Agents, script: Script, nonce: Callable[[str], str], journal: JournalReader) -> None:
    asked, said = nonce("asked"), nonce("said")
    starter.show("face", "vllm-0.10.0")
    script.answer("script", Answer(text=said), nonce=asked)
    reply = starter.start("agent", PLAIN).respond("reply", asked)
    refused = [call for call in journal.read("calls", "model") if call.status == 400]
    mend = "keep the default output budget so small that the CLI's own prompt fits beside it"
    expect(not refused, "no call beyond the window", refused[0].text if refused else "", mend, *refused[:1])
    expect_answered(reply, said, "the default budget in a window of 32768 tokens")


@pytest.mark.requirement("KA-BUDGET-2")
@pytest.mark.parametrize(
    ("face", "rules"),
    [("gym", SILENT), ("gym", UNCAPPED), ("vllm-0.10.0", UNCAPPED)],
    ids=["silent", "empty", "refused"],
)
def test_a_budget_beyond_the_window_is_said(
    starter: Agents,
    cli_behind: Kilo,
    script: Script,
    nonce: Callable[[str], str],
    journal: JournalReader,
    face: str,
    rules: Mapping[str, Any],
) -> None:
    """Whether the server refuses, or answers with nothing, and whether the CLI fails or ends silently."""
    asked, said = nonce("asked"), nonce("said")
    script.answer("script", Answer(text=said), nonce=asked)
    agent = starter.start("agent", GREEDY)
    cli_behind.behave("behave", rules)
    starter.show("face", face)
    reply = agent.respond("reply", asked)
    mend = "tell in the answer that the output budget does not fit the context window, and how to mend it"
    reached = any(asked.encode() in call.request.body for call in journal.read("calls", "model"))
    expect(reached, "a call to the model server", shown(reply), mend, reply)
    told = f"{reply.text}\n{agent.log('log')}".replace(asked, "")
    expect(_BUDGET.search(told) is not None, "words about the output budget or the window", told, mend, reply)


@pytest.mark.requirement("KA-BUDGET-2")
def test_an_answer_of_nothing_for_want_of_room_is_said(
    starter: Agents, script: Script, nonce: Callable[[str], str]
) -> None:
    """A model server that makes nothing of a refusal, with finish reason length."""
    asked = nonce("asked")
    script.answer("script", Answer(text="", finish="length"), nonce=asked)
    agent = starter.start("agent", PLAIN)
    reply = agent.respond("reply", asked)
    told = f"{reply.text}\n{agent.log('log')}".replace(asked, "")
    mend = "take an empty answer with finish reason length for what it is"
    expect(reply.status is not None, "an answer", shown(reply), mend, reply)
    expect(_BUDGET.search(told) is not None, "words about the output budget or the window", told, mend, reply)
