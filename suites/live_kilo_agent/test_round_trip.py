"""Turns of an agent that are followed to the model server and back, in a rollout of their own."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from harness.actors import JournalReader, Script
from harness.chat import stream_of
from harness.check import expect
from harness.exchange import Exchange
from harness.expectations import shown
from harness.fakes.model.script import Answer, ToolCall
from harness.fixtures.kilo_agent import PLAIN
from harness.kilo_agent_actors import Agent, Agents
from harness.kilo_answers import expect_answered, is_finished, text_of
from harness.trail import AFTERWARDS, ASKED, FAULT, OUTPUT, SAID, Passed, answers, asks, expect_passed

Nonce = Callable[[str], str]
Turn = Callable[..., Exchange]
ROLLOUT = "rollout"
MEND = "run the Kilo CLI with /ng-rollout/<id> before /v1 in the model server's address"
STEP_MEND = "let the CLI run the tool, and go on with what it printed"
SOON = (("retry-after", "1"),)


@pytest.fixture
def agent(starter: Agents) -> Agent:
    """An agent with the least that it is told."""
    return starter.start("agent", PLAIN)


@pytest.fixture
def round_trip(agent: Agent, script: Script, journal: JournalReader, nonce: Nonce) -> Turn:
    """A turn in a rollout of its own, whose words have this label (none for those of the check itself)."""

    def make(label: str = "", *steps: Answer, piece: int = 64) -> Exchange:
        named = f"{label} " if label else ""
        asked, said, rollout = (nonce(f"{named}{word}") for word in (ASKED, SAID, ROLLOUT))
        script.answer(f"{named}answer", *steps, Answer(said, piece=piece), nonce=asked)
        reply = agent.respond(f"{named}ask", asked, rollout)
        expect_answered(reply, said, "a turn of the whole chain")
        calls = Passed("model", journal.read(f"{named}calls", "model"))
        expect_passed(reply, [calls], asked, said)
        paths = {call.request.path.rpartition("/v1/")[0] for call in calls.asking(asked)}
        expect(paths == {f"/ng-rollout/{rollout}"}, f"every call under the rollout {rollout}", repr(paths), MEND, reply)
        return reply

    return make


@pytest.mark.requirement("LK-TURN-1")
def test_a_turn_goes_all_the_way_round(round_trip: Turn) -> None:
    """A word is planted at each end, and must come out at the other; the rollout's id is the thread."""
    round_trip()


@pytest.mark.requirement("LK-STREAM-1")
def test_a_stream_arrives_whole(round_trip: Turn, journal: JournalReader, nonce: Nonce) -> None:
    """No event of the model's holds the word, and the answer does."""
    reply = round_trip(piece=7)
    calls = [
        call for call in journal.read("streams", "model") if asks(call, nonce(ASKED)) and answers(call, nonce(SAID))
    ]
    streamed = [call for call in calls if call.content_type == "text/event-stream"]
    mend = "let the CLI ask the model for a stream"
    expect(bool(streamed), "a stream of the model's", f"{len(calls)} calls without one", mend, reply)
    whole = any(nonce(SAID) in event.data for event in stream_of(streamed[0]).events)
    expect(not whole, "a word that comes in pieces", "an event that holds it", mend, streamed[0])


@pytest.mark.requirement("LK-TOOL-1")
def test_a_tool_step_goes_all_the_way_round(round_trip: Turn, journal: JournalReader, nonce: Nonce) -> None:
    """The word that the tool prints is put together by running it, and is in no request before."""
    output = nonce(OUTPUT)
    command = {"command": f"echo {output[:11]}''{output[11:]}", "description": "say a word"}
    call = ToolCall("bash", json.dumps(command))
    reply = round_trip("", Answer("", tool_calls=(call,), finish="tool_calls"))
    calls = [one for one in journal.read("steps", "model") if asks(one, nonce(ASKED))]
    told = any(asks(one, output) for one in calls)
    expect(told, f"the tool's output {output} in a second step", f"{len(calls)} calls without it", STEP_MEND, reply)


def _expect_met(calls: tuple[Exchange, ...], asked: str, status: int, reply: Exchange) -> None:
    """The fault was met at the model server."""
    met = [call for call in calls if asks(call, asked) and call.status == status]
    expect(bool(met), f"a call that the model server answers with {status}", f"{len(calls)} calls", MEND, reply)


@pytest.mark.requirement("LK-REFUSAL-1")
def test_a_model_that_is_not_there_is_no_finished_run(
    agent: Agent, script: Script, journal: JournalReader, nonce: Nonce, round_trip: Turn
) -> None:
    """The model server answers 404."""
    gone = Answer(status=404, message=nonce(FAULT), error_type="invalid_request_error")
    script.answer("fault", gone, nonce=nonce(ASKED))
    reply = agent.respond("ask", nonce(ASKED), nonce(ROLLOUT))
    expected = "an answer that does not call the run finished for a model that is not there"
    mend = "say in the answer that the run failed"
    expect(reply.status is not None and not is_finished(reply), expected, shown(reply), mend, reply)
    _expect_met(journal.read("calls", "model"), nonce(ASKED), 404, reply)
    round_trip(AFTERWARDS)


@pytest.mark.requirement("LK-FAULT-1")
def test_a_fault_of_the_model_server_is_not_the_answer(
    agent: Agent, script: Script, journal: JournalReader, nonce: Nonce, round_trip: Turn
) -> None:
    """The model server answers 502, and when it is asked again with a word."""
    bad = Answer(status=502, message=nonce(FAULT), headers=SOON)
    script.answer("fault", bad, Answer(nonce(SAID)), nonce=nonce(ASKED))
    reply = agent.respond("ask", nonce(ASKED), nonce(ROLLOUT))
    _expect_met(journal.read("calls", "model"), nonce(ASKED), 502, reply)
    said, mend = text_of(reply), "let the CLI ask again, or say in the answer that the run failed"
    expect(reply.status is not None, "an answer to a run whose model server fails", shown(reply), mend, reply)
    expect(nonce(FAULT) not in said, "nothing of the fault as the assistant's words", said, mend, reply)
    true = nonce(SAID) in said or not is_finished(reply)
    expect(true, f"the word {nonce(SAID)}, or a run that is not called finished", shown(reply), mend, reply)
    round_trip(AFTERWARDS)
