"""From the events of a run to the answer."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping

import pytest

from harness.actors import Script
from harness.check import expect
from harness.exchange import Exchange
from harness.expectations import shown
from harness.fakes.model.script import Answer, ToolCall, Usage
from harness.fixtures.kilo_agent import PLAIN, Turn
from harness.kilo_agent_actors import Agents, Kilo
from harness.kilo_answers import expect_answered, is_said, items_of, response_of, text_in, text_of

pytestmark = pytest.mark.usefixtures("whole_response")

Nonce = Callable[[str], str]
MEND = "make an item of each part that the CLI prints, once, in their order"
NOISE = (
    "not JSON",
    '{"type":"text","part":{"type":"te',
    "[]",
    "null",
    "7",
    '{"type":"text"}',
    "\x1b[91mError:\x1b[0m no",
)
FOREIGN = {
    "type": "text",
    "role": "user",
    "part": {"id": "prt_other", "messageID": "msg_other", "role": "user", "type": "text", "text": "{word}"},
}


def _steps(nonce: Nonce) -> tuple[Answer, Answer]:
    """Two steps: a thought and a tool call, then a thought and a text."""
    command = json.dumps({"command": f"echo {nonce('output')}", "description": "say a word"})
    tool = ToolCall("bash", command)
    first = Answer("", nonce("thought 1"), tool_calls=(tool,), finish="tool_calls", usage=Usage(1000, 50, 20))
    return first, Answer(nonce("said"), nonce("thought 2"), usage=Usage(1200, 30, 10))


def _places(reply: Exchange, nonce: Nonce) -> Mapping[str, list[int]]:
    """Where in the output each of the two steps' words is."""
    found: dict[str, list[int]] = {}
    for place, item in enumerate(items_of(reply)):
        kind = "call" if item.get("type") == "function_call" else ""
        text = str(item.get("arguments")) if kind else text_in(item)
        for name in ("thought 1", "output", "thought 2", "said"):
            if nonce(name) in text:
                found.setdefault(kind or name, []).append(place)
    return found


def _expect_whole(reply: Exchange, nonce: Nonce) -> None:
    """Both steps are in the answer: each thing once, in its order."""
    expect_answered(reply, nonce("said"), "a turn of two steps")
    places = _places(reply, nonce)
    order = ("thought 1", "call", "output", "thought 2", "said")
    missing = [name for name in order if name not in places]
    expect(not missing, f"each of {order} in the output", f"without {missing}: {shown(reply)}", MEND, reply)
    repeated = [name for name in order if len(places[name]) > 1]
    expect(not repeated, "each part once", f"several times {repeated}: {shown(reply)}", MEND, reply)
    came = sorted(order, key=lambda name: places[name][0])
    expect(came == list(order), f"the order {order}", repr(came), MEND, reply)


def _two_steps(starter: Agents, script: Script, nonce: Nonce) -> Exchange:
    script.answer("script", *_steps(nonce), nonce=nonce("asked"))
    return starter.start("agent", PLAIN).respond("reply", nonce("asked"))


@pytest.mark.requirement("KA-PARSE-1")
def test_both_steps_of_a_turn_are_in_the_answer(starter: Agents, script: Script, nonce: Nonce) -> None:
    """Thoughts come before what they led to, and a tool's output belongs to its call."""
    reply = _two_steps(starter, script, nonce)
    _expect_whole(reply, nonce)
    calls = [item for item in items_of(reply) if item.get("type") == "function_call"]
    outputs = [item for item in items_of(reply) if item.get("type") == "function_call_output"]
    paired = [item.get("call_id") for item in calls] == [item.get("call_id") for item in outputs]
    expect(paired, "an output for each call, by call_id", shown(reply), MEND, reply)
    expect(calls[0].get("name") == "bash", "a call of bash", repr(calls[0]), MEND, reply)


@pytest.mark.requirement("KA-PARSE-1")
def test_the_tokens_of_all_steps_are_counted(starter: Agents, script: Script, nonce: Nonce) -> None:
    """Those of the prompts, and those of the answers with their thoughts."""
    reply = _two_steps(starter, script, nonce)
    expect_answered(reply, nonce("said"), "a turn of two steps")
    _expect_usage(reply)


def _expect_usage(reply: Exchange) -> None:
    usage = response_of(reply).get("usage") or {}
    came = tuple(usage.get(name) for name in ("input_tokens", "output_tokens", "total_tokens"))
    mend = "add up the tokens of the step_finish events, each once"
    expect(came == (2200, 80, 2280), "2200 tokens read, 80 written, 2280 in all", repr(usage), mend, reply)


@pytest.mark.requirement("KA-PARSE-1")
def test_a_part_that_is_told_twice_counts_once(starter: Agents, cli_behind: Kilo, script: Script, nonce: Nonce) -> None:
    """Text, thoughts, calls and tokens."""
    cli_behind.behave("behave", repeats=2)
    reply = _two_steps(starter, script, nonce)
    _expect_whole(reply, nonce)
    _expect_usage(reply)


@pytest.mark.requirement("KA-PARSE-1")
@pytest.mark.parametrize("size", [0, 7])
def test_broken_lines_change_nothing(
    starter: Agents, cli_behind: Kilo, script: Script, nonce: Nonce, size: int
) -> None:
    """Lines that are no events, before, between and after them; lines that come in pieces."""
    cli_behind.behave("behave", lines_before=NOISE, line_between="Error: noise", lines_after=NOISE, pieces=size)
    first, second = _steps(nonce)
    text = f"{second.text} größer 漢字 \U0001f9ea"
    script.answer("script", first, Answer(text, second.reasoning, usage=second.usage), nonce=nonce("asked"))
    reply = starter.start("agent", PLAIN).respond("reply", nonce("asked"))
    _expect_whole(reply, nonce)
    expect(text in text_of(reply), f"the text {text!r}", shown(reply), "decode whole lines as UTF-8", reply)
    _expect_usage(reply)


@pytest.mark.requirement("KA-PARSE-1")
def test_what_another_role_says_is_left_out(starter: Agents, cli_behind: Kilo, script: Script, nonce: Nonce) -> None:
    """A message of the user that is printed among the events is not the assistant's."""
    line = json.dumps(FOREIGN).replace("{word}", nonce("foreign"))
    cli_behind.behave("behave", lines_before=(line,))
    reply = _two_steps(starter, script, nonce)
    _expect_whole(reply, nonce)
    said = [item for item in items_of(reply) if is_said(item) and nonce("foreign") in text_in(item)]
    expect(not said, "nothing of another role's as the assistant's", repr(said), "skip events of other roles", reply)


@pytest.mark.requirement("KA-PARSE-1")
def test_a_thought_without_a_text_is_not_lost(starter: Agents, script: Script, nonce: Nonce, agent_turn: Turn) -> None:
    """A model that thinks and then says nothing."""
    agent = starter.start("agent", PLAIN)
    agent_turn(agent, "control")
    script.answer("script", Answer("", nonce("thought")), nonce=nonce("asked"))
    reply = agent.respond("reply", nonce("asked"))
    found = any(nonce("thought") in text_in(item) for item in items_of(reply))
    expect(found, "the thought in the output", shown(reply), "keep thoughts that no text follows", reply)


@pytest.mark.requirement("KA-PARSE-1")
def test_a_failed_tool_is_in_the_answer(starter: Agents, script: Script, nonce: Nonce) -> None:
    """Its call, with what went wrong as the output."""
    tool = ToolCall("read", json.dumps({"filePath": f"{nonce('missing')}.txt"}))
    steps = (Answer("", tool_calls=(tool,), finish="tool_calls"), Answer(nonce("said")))
    script.answer("script", *steps, nonce=nonce("asked"))
    reply = starter.start("agent", PLAIN).respond("reply", nonce("asked"))
    expect_answered(reply, nonce("said"), "a turn with a tool that fails")
    outputs = [text_in(item) for item in items_of(reply) if item.get("type") == "function_call_output"]
    told = len(outputs) == 1 and nonce("missing") in outputs[0]
    expect(
        told, "the tool's error as its output", repr(outputs), "take state.error for the output of a failed tool", reply
    )
