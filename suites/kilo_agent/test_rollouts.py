"""Model calls are filed under the rollout that makes them."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from harness.actors import JournalReader, Script
from harness.check import expect
from harness.exchange import Exchange
from harness.fakes.model.script import Answer, ToolCall
from harness.fixtures.kilo_agent import PLAIN, ROLLS_OUT, Turn
from harness.kilo_agent_actors import RESPONSES, RUN, Agents
from harness.kilo_answers import expect_answered

PATH = "/v1/chat/completions"
IDS = ("a", "a.b-c_D9", "0123456789")
MEND = "put /ng-rollout/<id> before /v1 in the model server's address for the runs of a rollout, and for these alone"


def _in(rollout: str | None) -> str:
    return f"/ng-rollout/{rollout}{PATH}" if rollout is not None else PATH


def _expect_filed(calls: tuple[Exchange, ...], word: str, rollout: str | None) -> None:
    """All calls whose prompt holds `word`, and there are some, went to the path of that rollout."""
    paths = [call.request.path for call in calls if word.encode() in call.request.body]
    where = f"rollout {rollout!r}" if rollout else "no rollout"
    expect(bool(paths) and set(paths) == {_in(rollout)}, f"model calls in {where}", repr(paths), MEND)


@pytest.mark.requirement("KA-CAPTURE-1")
@pytest.mark.parametrize("route", [RESPONSES, RUN])
def test_every_call_of_a_rollout_is_filed_under_it(
    starter: Agents, script: Script, journal: JournalReader, nonce: Callable[[str], str], route: str
) -> None:
    """Those of all steps of a turn, whichever way it came in."""
    asked, said = nonce("asked"), nonce("said")
    call = ToolCall("bash", json.dumps({"command": "echo step", "description": "a step"}))
    script.answer("script", Answer(text="", tool_calls=(call,), finish="tool_calls"), Answer(text=said), nonce=asked)
    agent = starter.start("agent", ROLLS_OUT)
    reply = agent.respond("reply", asked, IDS[0]) if route == RESPONSES else agent.run("reply", asked, IDS[0])
    expect_answered(reply, said, f"two steps in a rollout through {route}")
    calls = journal.read("calls", "model")
    _expect_filed(calls, asked, IDS[0])
    steps = [one for one in calls if asked.encode() in one.request.body]
    expect(len(steps) >= 2, "a call for each of two steps", str(len(steps)), MEND)


@pytest.mark.requirement("KA-CAPTURE-1")
def test_a_call_outside_a_rollout_is_filed_under_none(
    starter: Agents, agent_turn: Turn, journal: JournalReader, nonce: Callable[[str], str]
) -> None:
    """Neither before nor after one inside."""
    agent = starter.start("agent", PLAIN)
    for label, rollout in (("before", None), ("inside", IDS[1]), ("after", None)):
        agent_turn(agent, label, rollout)
    calls = journal.read("calls", "model")
    for label, rollout in (("before", None), ("inside", IDS[1]), ("after", None)):
        _expect_filed(calls, nonce(f"question {label}"), rollout)


@pytest.mark.requirement("KA-CAPTURE-1")
def test_rollouts_at_the_same_time_do_not_mix(
    starter: Agents, script: Script, journal: JournalReader, nonce: Callable[[str], str]
) -> None:
    """Each run's calls go to its own, also while others are under way."""
    agent = starter.start("agent", PLAIN)
    for id_ in IDS:
        script.answer(f"script {id_}", Answer(text=nonce(f"said {id_}")), nonce=nonce(f"asked {id_}"))
    begun = {id_: agent.begin(id_, RESPONSES, {"input": nonce(f"asked {id_}")}, id_) for id_ in IDS}
    for id_, call in begun.items():
        expect_answered(call.result(), nonce(f"said {id_}"), f"one of {len(IDS)} rollouts at once")
    calls = journal.read("calls", "model")
    for id_ in IDS:
        _expect_filed(calls, nonce(f"asked {id_}"), id_)
