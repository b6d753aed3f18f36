"""Runs that take too long are ended, and everything that belongs to them is."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from harness.actors import Clock, JournalReader, Script
from harness.check import expect
from harness.exchange import Exchange
from harness.fakes.model.script import Answer, ToolCall
from harness.fixtures.kilo_agent import PLAIN, Turn
from harness.kilo_agent_actors import RESPONSES, Agent, Agents, Kilo
from harness.kilo_answers import expect_failure

MARGIN = 5.0
"""Seconds beyond its timeout in which a run must have been given up."""

MEND = "end the CLI and everything that it started, also what left its process group, when its time is over"


def _limited(timeout: float) -> Mapping[str, Any]:
    return {**PLAIN, "timeout": timeout}


def _expect_over(agent: Agent, reply: Exchange, timeout: float, why: str) -> None:
    """The run was given up in time, which is said, and none of its processes is there any more."""
    expect_failure(reply, agent.log(f"log {why}"), why)
    in_time = reply.duration is not None and reply.duration <= timeout + MARGIN
    expect(in_time, f"an answer within {timeout + MARGIN:g} s for {why}", f"one after {reply.duration} s", MEND, reply)
    left = agent.left(f"left {why}")
    expect(not left, f"no process of the run for {why}", repr(left), MEND, reply)


@pytest.mark.waits
@pytest.mark.requirement("KA-FAULT-1")
def test_a_cli_that_hangs_is_an_error(starter: Agents, cli_behind: Kilo, run_timeout: float, agent_turn: Turn) -> None:
    """Its time is over, which is said, and its folder is removed."""
    agent_turn(starter.start("control", PLAIN), "control")
    agent = starter.start("agent", _limited(run_timeout))
    cli_behind.behave("behave", hang="start")
    _expect_over(agent, agent.respond("reply", "Hello"), run_timeout, "a CLI that hangs")
    kept = cli_behind.kept("kept", cli_behind.runs("runs"))
    expect(not kept, "no folder of a run that was ended", repr(kept), "remove the run's folder, however the run ends")


@pytest.mark.waits
@pytest.mark.requirement("KA-FAULT-3")
def test_nothing_outlives_a_run_that_was_ended(
    starter: Agents, cli_behind: Kilo, run_timeout: float, agent_turn: Turn
) -> None:
    """Although it ignores requests to end, and has left a process in a session of its own."""
    agent_turn(starter.start("control", PLAIN), "control")
    agent = starter.start("agent", _limited(run_timeout))
    cli_behind.behave("behave", hang="end", ignores_term=True, detached=60.0)
    reply = agent.respond("reply", "Hello")
    _expect_over(agent, reply, run_timeout, "a CLI that hangs")


@pytest.mark.waits
@pytest.mark.requirement("KA-FAULT-3")
def test_after_a_timeout_no_model_call_is_made(
    starter: Agents,
    script: Script,
    journal: JournalReader,
    clock: Clock,
    nonce: Callable[[str], str],
    run_timeout: float,
    agent_turn: Turn,
) -> None:
    """One run waits for the model, the other for a tool, after which it would ask the model again."""
    agent_turn(starter.start("control", PLAIN), "control")
    agent = starter.start("agent", _limited(run_timeout))
    tool = ToolCall("bash", json.dumps({"command": f"sleep {run_timeout + 1.0:g}", "description": "wait"}))
    script.answer("slow model", Answer(fault="hang"), nonce=nonce("slow model"))
    script.answer("slow tool", Answer("", tool_calls=(tool,), finish="tool_calls"), nonce=nonce("slow tool"))
    begun = {name: agent.begin(name, RESPONSES, {"input": nonce(name)}) for name in ("slow model", "slow tool")}
    for name, call in begun.items():
        _expect_over(agent, call.result(), run_timeout, f"a {name}")
    before = _calls(journal.read("before", "model"), nonce)
    expect(before == [1, 1], "a model call of each run", repr(before), "run the CLI", None)
    clock.sleep("for the tool to end", 1.2)
    later = journal.read("after", "model")
    expect(_calls(later, nonce) == before, "no further model call", repr(_calls(later, nonce)), MEND)
    open_ = [call.number for call in later if call.end == "open"]
    expect(not open_, "no model call that is still open", f"{len(open_)} of them", MEND)


def _calls(calls: tuple[Exchange, ...], nonce: Callable[[str], str]) -> list[int]:
    """How often each of the two prompts reached the model."""
    return [sum(nonce(name).encode() in call.request.body for call in calls) for name in ("slow model", "slow tool")]
