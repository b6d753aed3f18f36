"""A turn that nobody waits for is ended upstream, not only here."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from harness.actors import Client, Clock, JournalReader, Script
from harness.chat import ask
from harness.check import Inconclusive, expect
from harness.exchange import Exchange
from harness.expectations import expect_reached, shown
from harness.failed_turns import expect_failed
from harness.fakes.model.script import Answer
from harness.target import Agent, Facts
from harness.target_keys import KeyFacts

MEND = "POST /session/{id}/abort when the endpoint gives up or its client goes away, and again a moment later"
QUIET_SECONDS = 3.0
"""How long no model call may begin, from the contract: longer than the first wait of opencode before a retry. Over a
stand-in whose waits are shorter, it is so many times shorter too."""

SLACK = 3.0
"""Seconds beyond the declared deadline in which the refusal may still arrive."""

HANG = Answer(fault="hang")
HALF = Answer(text="half of an answer", fault="hang_after_text")
ENDLESS = Answer(text="and again ", finish=None, pause=0.1)
"""Without a finish reason opencode asks again, without end."""


RETRIED = Answer(status=500, message="try again later")
"""opencode tries again after 2, 4, 8 and more seconds."""


def calls_with(journal: JournalReader, label: str, word: str) -> list[Exchange]:
    """The model calls whose prompt holds `word`."""
    return [call for call in journal.read(label, "model") if word.encode() in call.request.body]


def await_calls(journal: JournalReader, label: str, words: list[str], within: float) -> None:
    """Wait until a model call was made for each word; the check cannot be made without."""

    def all_made(calls: tuple[Exchange, ...]) -> bool:
        return all(any(word.encode() in call.request.body for call in calls) for word in words)

    if not all_made(journal.wait(label, "model", all_made, within)):
        raise Inconclusive("not every request led to a model call")


def expect_refused_in_time(reply: Exchange, target: Facts, why: str) -> None:
    """A 502 or 504, or what stands for it in a stream that has begun, that is not later than the declared deadline."""
    expect_failed(reply, f"a turn that is not over when {why}", "answer 502 at the deadline", {502, 504})
    late = reply.duration is None or reply.duration > target.deadline + SLACK
    limit = f"{target.deadline:g} s (the declared deadline, and {SLACK:g} s for the way)"
    expect(not late, f"the refusal within {limit} when {why}", shown(reply), "keep one deadline per turn", reply)


def expect_ended(journal: JournalReader, clock: Clock, target: Facts, words: dict[str, str]) -> None:
    """The model calls of each turn are closed, and after the grace none begins."""
    clock.sleep("grace", target.abort_grace)
    before = {why: calls_with(journal, f"after the grace: {why}", word) for why, word in words.items()}
    quiet = QUIET_SECONDS / target.pace
    clock.sleep("quiet", quiet)
    for why, word in words.items():
        calls = calls_with(journal, f"after the quiet: {why}", word)
        still_open = [call for call in before[why] if call.end == "open"]
        expect(
            not still_open,
            f"the open model call to be closed within {target.abort_grace:g} s when {why}",
            f"{len(still_open)} of {len(before[why])} calls still open",
            MEND,
            still_open[0] if still_open else None,
        )
        later = calls[len(before[why]) :]
        expect(
            not later,
            f"no further model call for {quiet:g} s when {why}",
            f"{len(later)} more",
            MEND,
            later[0] if later else None,
        )


@pytest.mark.waits
@pytest.mark.requirement("AE-FAULT-5")
def test_a_turn_without_an_end_is_refused_at_the_deadline(
    client: Client,
    script: Script,
    journal: JournalReader,
    nonce: Callable[[str], str],
    target: Facts,
    key: KeyFacts,
    agent: Agent,
) -> None:
    """Silence in which only heartbeats are heard, and retries without end: neither holds a request for ever."""
    turns = {
        "the model is silent": ("silent", HANG, False),
        "the model is silent, streaming": ("silent stream", HANG, True),
        "the model stops in the middle, streaming": ("half stream", HALF, True),
        "the model is tried again and again": ("retried", RETRIED, False),
        "the model is tried again and again, streaming": ("retried stream", RETRIED, True),
    }
    for label, answer, _ in turns.values():
        script.answer(label, answer, nonce=nonce(label))
    asked = [
        client.begin(f"ask {label}", ask(agent.id, nonce(label), stream=stream), key=key.name)
        for label, _, stream in turns.values()
    ]
    await_calls(journal, "calls", [nonce(label) for label, _, _ in turns.values()], target.deadline)
    for why, call in zip(turns, asked, strict=True):
        expect_refused_in_time(call.result(), target, why)


@pytest.mark.waits
@pytest.mark.requirement("AE-FAULT-5")
def test_an_endless_loop_of_steps_is_refused_at_the_deadline(
    client: Client,
    script: Script,
    journal: JournalReader,
    nonce: Callable[[str], str],
    target: Facts,
    key: KeyFacts,
    agent: Agent,
) -> None:
    """Without a finish reason opencode asks the model again and again; the client does not wait for it."""
    modes = ("json", "stream")
    for mode in modes:
        script.answer(f"endless {mode}", ENDLESS, nonce=nonce(mode))
    asked = [
        client.begin(f"ask for {mode}", ask(agent.id, nonce(mode), stream=mode == "stream"), key=key.name)
        for mode in modes
    ]
    for mode, call in zip(modes, asked, strict=True):
        reply = call.result()
        expect_refused_in_time(reply, target, f"the model is asked without end ({mode})")
        expect_reached(journal, nonce(mode), reply, f"an endless loop of steps ({mode})")


@pytest.mark.waits
@pytest.mark.requirement("AE-FAULT-6")
def test_giving_up_at_the_deadline_aborts_the_turn(
    client: Client,
    script: Script,
    journal: JournalReader,
    clock: Clock,
    nonce: Callable[[str], str],
    target: Facts,
    key: KeyFacts,
    agent: Agent,
) -> None:
    """A model that hangs and one that is asked without end: the endpoint gives them up, and ends their turns.

    How a stream that has begun tells it is another requirement's.
    """
    turns = {
        "the model hangs": ("hang", HANG, False),
        "the model is asked without end": ("endless", ENDLESS, False),
        "the model hangs, streaming": ("hang stream", HANG, True),
        "the model stops in the middle, streaming": ("half stream", HALF, True),
        "the model is asked without end, streaming": ("endless stream", ENDLESS, True),
    }
    for label, answer, _ in turns.values():
        script.answer(label, answer, nonce=nonce(label))
    asked = [
        client.begin(f"ask {label}", ask(agent.id, nonce(label), stream=stream), key=key.name)
        for label, _, stream in turns.values()
    ]
    await_calls(journal, "calls", [nonce(label) for label, _, _ in turns.values()], target.deadline)
    for (why, (_, _, stream)), call in zip(turns.items(), asked, strict=True):
        reply = call.result()
        if not stream:
            expect_refused_in_time(reply, target, why)
    expect_ended(journal, clock, target, {why: nonce(label) for why, (label, _, _) in turns.items()})


@pytest.mark.waits
@pytest.mark.requirement("AE-FAULT-6")
def test_a_client_that_goes_away_ends_its_turn(
    client: Client,
    script: Script,
    journal: JournalReader,
    clock: Clock,
    nonce: Callable[[str], str],
    target: Facts,
    key: KeyFacts,
    agent: Agent,
) -> None:
    """Who waits for a JSON answer, who reads a stream, and who waits for its beginning: they leave, the turns end."""
    leavers = {
        "the client of a JSON answer left": ("json", HANG, False),
        "the client of a stream left": ("stream", HALF, True),
        "the client of a stream left before its first word": ("silent stream", HANG, True),
    }
    for label, answer, _ in leavers.values():
        script.answer(label, answer, nonce=nonce(label))
    asked = [
        client.begin(f"ask {label}", ask(agent.id, nonce(label), stream=stream), key=key.name)
        for label, _, stream in leavers.values()
    ]
    await_calls(journal, "calls", [nonce(label) for label, _, _ in leavers.values()], target.deadline)
    for call in asked:
        left = call.leave()
        if left.end != "gone":
            raise Inconclusive(f"the answer came before the client could leave: {shown(left)}")
    expect_ended(journal, clock, target, {why: nonce(label) for why, (label, _, _) in leavers.items()})
