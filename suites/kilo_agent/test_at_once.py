"""How many runs go on at the same time, and which session of the resources server they have."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from harness.actors import Clock, JournalReader, Script
from harness.check import Inconclusive, expect
from harness.exchange import Exchange
from harness.fakes.model.script import Answer
from harness.fakes.resources import COOKIE, session_in
from harness.fixtures.kilo_agent import ROLLS_OUT
from harness.kilo_agent_actors import RESPONSES, RUN, Agents
from harness.kilo_answers import expect_answered
from harness.target import Facts

WAYS = (RESPONSES, RUN, RESPONSES, RUN)
QUIET = 0.4
"""Seconds in which a run too many would have reached the model."""


@pytest.mark.requirement("KA-CONC-1")
def test_no_more_runs_than_declared(
    starter: Agents,
    script: Script,
    journal: JournalReader,
    clock: Clock,
    nonce: Callable[[str], str],
    target: Facts,
) -> None:
    """While the first two are held back, no other reaches the model; then all are answered."""
    agent, limit = starter.start("agent", ROLLS_OUT), ROLLS_OUT["concurrency"]
    gate, begun = nonce("gate"), []
    for number, way in enumerate(WAYS):
        asked, said = nonce(f"asked {number}"), nonce(f"said {number}")
        script.answer(f"script {number}", Answer(text=said * 3, gate=gate), nonce=asked)
        body = {"input": asked} if way == RESPONSES else {"responses_create_params": {"input": asked}}
        begun.append(agent.begin(f"turn {number}", way, body))
    journal.wait("first", "model", lambda seen: _turns(seen) >= limit, target.deadline / 5)
    clock.sleep("quiet", QUIET)
    held = _turns(journal.read("held", "model"))
    script.open("go on", gate)
    for number, call in enumerate(begun):
        expect_answered(call.result(), nonce(f"said {number}"), f"one of {len(WAYS)} turns at once")
    mend = "count every run against the declared concurrency, whichever route it came by"
    expect(0 < held <= limit, f"{limit} runs at a time", f"{held} calls at the model at the same time", mend)


@pytest.mark.requirement("KA-COOKIE-1")
def test_a_rollout_is_seeded_and_verified_in_one_session(
    starter: Agents, script: Script, journal: JournalReader, nonce: Callable[[str], str]
) -> None:
    """And two rollouts at the same time have one each."""
    agent = starter.start("agent", ROLLS_OUT)
    for number in (1, 2):
        script.answer(f"script {number}", Answer(text=nonce(f"said {number}")), nonce=nonce(f"asked {number}"))
    asked = {number: {"responses_create_params": {"input": nonce(f"asked {number}")}} for number in (1, 2)}
    begun = {number: agent.begin(f"rollout {number}", RUN, body) for number, body in asked.items()}
    for number, call in begun.items():
        expect_answered(call.result(), nonce(f"said {number}"), "a whole rollout")
    calls = journal.read("resources", "resources")
    for number in (1, 2):
        word = nonce(f"asked {number}").encode()
        seeds, checks = (_to(calls, path, word) for path in ("/seed_session", "/verify"))
        if len(seeds) != 1 or len(checks) != 1:
            raise Inconclusive(f"{len(seeds)} calls to seed and {len(checks)} to verify were seen for a rollout")
        opened = (seeds[0].header("set-cookie") or "").partition(";")[0].removeprefix(f"{COOKIE}=")
        carried = session_in(checks[0].request)
        mend = "keep the cookies of the call that seeds for the call that verifies, and for this rollout alone"
        expect(carried == opened, f"the session {opened!r} with /verify", repr(carried), mend, checks[0])


def _turns(calls: tuple[Exchange, ...]) -> int:
    """How many of the calls ask the model for something."""
    return sum(call.request.method == "POST" for call in calls)


def _to(calls: tuple[Exchange, ...], path: str, word: bytes) -> list[Exchange]:
    return [call for call in calls if call.request.path.endswith(path) and word in call.request.body]
