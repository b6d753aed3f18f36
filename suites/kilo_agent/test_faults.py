"""Runs that go wrong: it is said, and nothing is left."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from harness.actors import Script
from harness.check import expect
from harness.exchange import Exchange
from harness.expectations import shown
from harness.fakes.model.script import Answer
from harness.fixtures.kilo_agent import PLAIN, ROLLS_OUT, Turn
from harness.kilo_agent_actors import RESPONSES, RUN, Agents, Kilo
from harness.kilo_answers import expect_failure, is_finished, outcome_of

FAULTS: Mapping[str, Mapping[str, Any]] = {
    "exits with 3": {"exit": 3},
    "exits with 3 and prints nothing": {"exit": 3, "silent": True},
    "exits with 0 and prints nothing": {"exit": 0, "silent": True},
    "exits with 0 without an event": {"exit": 0, "no_events": True},
}
ENDS_WELL = {"empty": 0, "failed": 0, "not_found": 0}
"""The rules of a CLI whose exit status tells nothing."""


@pytest.mark.requirement("KA-FAULT-1")
@pytest.mark.parametrize("fault", FAULTS)
def test_a_cli_that_does_not_do_its_work_is_an_error(
    starter: Agents, cli_behind: Kilo, agent_turn: Turn, fault: str
) -> None:
    """Which is said, and the folder of the run is removed."""
    agent = starter.start("agent", PLAIN)
    agent_turn(agent, "control")
    cli_behind.behave("behave", **FAULTS[fault])
    reply = agent.respond("reply", "Hello")
    expect_failure(reply, agent.log("log"), f"a CLI that {fault}")
    kept = cli_behind.kept("kept", cli_behind.runs("runs"))
    expect(not kept, "no folder of a run that is over", repr(kept), "remove the run's folder, however the run ends")


@pytest.mark.requirement("KA-FAULT-1")
def test_a_cli_that_is_missing_is_an_error(starter: Agents, any_cli: Kilo, agent_turn: Turn) -> None:
    """No executable `kilo` is on the PATH."""
    agent = starter.start("agent", PLAIN)
    agent_turn(agent, "control")
    any_cli.take_away("gone")
    expect_failure(agent.respond("reply", "Hello"), agent.log("log"), "a CLI that is not installed")


@pytest.mark.requirement("KA-FAULT-2")
def test_a_run_that_never_began_is_told_from_an_empty_one(
    starter: Agents, cli_behind: Kilo, script: Script, nonce: Callable[[str], str], agent_turn: Turn
) -> None:
    """Both end well, and neither has anything to say; only one of them was a run of the agent."""
    agent = starter.start("agent", PLAIN)
    agent_turn(agent, "control")
    script.answer("script", Answer(text=""), nonce=nonce("asked"))
    cli_behind.behave("ends well", ENDS_WELL)
    empty = agent.respond("empty", nonce("asked"))
    cli_behind.behave("never begins", silent=True, exit=0)
    never = agent.respond("never", nonce("asked"))
    mend = "tell a run without events from one in which the model answered nothing"
    expect(never.status is not None and not is_finished(never), "no finished answer", shown(never), mend, never)
    told = outcome_of(empty) != outcome_of(never)
    expect(told, "different answers to an empty run and to none", f"{outcome_of(empty)} both times", mend, never)


@pytest.mark.requirement("KA-FAULT-2")
@pytest.mark.parametrize("route", [RESPONSES, RUN])
def test_a_run_that_failed_is_not_called_finished(
    starter: Agents, script: Script, nonce: Callable[[str], str], agent_turn: Turn, route: str
) -> None:
    """The model server refuses, and the CLI tells an error."""
    agent = starter.start("agent", ROLLS_OUT)
    agent_turn(agent, "control")
    script.answer("script", Answer(status=400, message="no"), nonce=nonce("asked"))
    reply = agent.respond("reply", nonce("asked")) if route == RESPONSES else agent.run("reply", nonce("asked"))
    _expect_unfinished(reply)


@pytest.mark.requirement("KA-FAULT-2")
def test_an_error_is_a_failure_although_the_status_is_0(
    starter: Agents, cli_behind: Kilo, script: Script, nonce: Callable[[str], str], agent_turn: Turn
) -> None:
    """As some versions of the CLI have it."""
    agent = starter.start("agent", ROLLS_OUT)
    agent_turn(agent, "control")
    script.answer("script", Answer(status=400, message="no"), nonce=nonce("asked"))
    cli_behind.behave("behave", ENDS_WELL)
    _expect_unfinished(agent.respond("reply", nonce("asked")))


def _expect_unfinished(reply: Exchange) -> None:
    mend = "take a run that ends with an error event, or with another status than 0, for failed"
    expect(reply.status is not None and not is_finished(reply), "no finished answer", shown(reply), mend, reply)


@pytest.mark.requirement("KA-FAULT-2")
def test_a_status_other_than_0_is_a_failure_although_there_is_text(
    starter: Agents, cli_behind: Kilo, script: Script, nonce: Callable[[str], str], agent_turn: Turn
) -> None:
    """What was said so far is no finished answer."""
    agent = starter.start("agent", PLAIN)
    agent_turn(agent, "control")
    script.answer("script", Answer(text=nonce("said")), nonce=nonce("asked"))
    cli_behind.behave("behave", exit=3)
    reply = agent.respond("reply", nonce("asked"))
    _expect_unfinished(reply)
