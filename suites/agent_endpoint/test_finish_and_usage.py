"""Why a turn stopped, and what it cost."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import pytest

from harness.actors import Client, Script
from harness.chat import ask, finish_reasons_of
from harness.check import NotMeasured, expect
from harness.expectations import expect_answer, expect_completion, expect_said, expect_stream
from harness.fakes.model.script import Answer, ToolCall, Usage
from harness.target import Agent
from harness.target_keys import KeyFacts

JSON_AND_STREAM = pytest.mark.parametrize("stream", [False, True], ids=["json", "stream"])
CALL = ToolCall("todowrite", '{"todos":[]}')
API_REASONS = ("stop", "length", "content_filter", "tool_calls", "function_call")
"""The finish reasons of the API; the last two speak of calls that are in the message."""

MEND_USAGE = "add up the tokens of the turn's steps: completion is output and reasoning, total is prompt and completion"


def usage_of(body: Any) -> dict[str, Any] | None:
    """The three counts of a completion's usage."""
    usage = body.get("usage") if isinstance(body, dict) else None
    names = ("prompt_tokens", "completion_tokens", "total_tokens")
    return {name: usage.get(name) for name in names} if isinstance(usage, dict) else None


def sum_of(steps: Iterable[Usage]) -> dict[str, int]:
    """The usage of a turn of these steps."""
    prompt, completion = (sum(each) for each in zip(*((step.prompt, step.completion) for step in steps), strict=True))
    return {"prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": prompt + completion}


@pytest.mark.requirement("AE-REPLY-8")
@pytest.mark.parametrize(
    "steps",
    [
        pytest.param((Usage(1000, 30),), id="one step"),
        pytest.param((Usage(1000, 30, 20),), id="with reasoning"),
        pytest.param((Usage(1000, 30, cached=900),), id="with a cached prompt"),
        pytest.param((Usage(1000, 30, 20), Usage(1200, 40, 5), Usage(1400, 7)), id="three steps"),
    ],
)
def test_usage_is_the_sum_over_the_steps(
    client: Client,
    script: Script,
    nonce: Callable[[str], str],
    key: KeyFacts,
    agent: Agent,
    steps: tuple[Usage, ...],
) -> None:
    """Every step is a call of the model that somebody pays for."""
    *tools, last = steps
    calls = [Answer(tool_calls=(CALL,), finish="tool_calls", usage=usage) for usage in tools]
    script.answer("steps", *calls, Answer(text=nonce("said"), usage=last), nonce=nonce("asked"))
    reply = client.send("ask", ask(agent.id, nonce("asked")), key=key.name)
    expect_said(expect_completion(reply, "a turn"), nonce("said"), reply)
    wanted = sum_of(steps)
    came = usage_of(reply.json())
    expect(came == wanted, f"usage {wanted}", repr(came), MEND_USAGE, reply)


@pytest.mark.requirement("AE-REPLY-8")
def test_usage_in_a_stream_is_the_same_sum(
    client: Client, script: Script, nonce: Callable[[str], str], key: KeyFacts, agent: Agent
) -> None:
    """Where a stream tells the usage that was asked for; whether it does is another requirement's."""
    steps = (Usage(1000, 30, 20), Usage(1200, 7))
    call = Answer(tool_calls=(CALL,), finish="tool_calls", usage=steps[0])
    script.answer("steps", call, Answer(text=nonce("said"), usage=steps[1]), nonce=nonce("asked"))
    options = {"include_usage": True}
    reply = client.send("ask", ask(agent.id, nonce("asked"), stream=True, stream_options=options), key=key.name)
    stream = expect_stream(reply, "a turn")
    expect_said(stream.text, nonce("said"), reply)
    told = [usage for chunk in stream.chunks if (usage := usage_of(chunk)) is not None]
    if not told:
        raise NotMeasured("no chunk of the stream holds a usage")
    wanted = sum_of(steps)
    expect(told[-1] == wanted, f"usage {wanted}", repr(told[-1]), MEND_USAGE, reply)


@pytest.mark.requirement("AE-REPLY-9")
@JSON_AND_STREAM
def test_a_turn_that_ran_out_of_tokens_says_so(
    client: Client, script: Script, nonce: Callable[[str], str], key: KeyFacts, agent: Agent, stream: bool
) -> None:
    """Its reader must know that the text is not whole."""
    script.answer("length", Answer(text=nonce("said"), finish="length"), nonce=nonce("asked"))
    reply = client.send("ask", ask(agent.id, nonce("asked"), stream=stream), key=key.name)
    expect_said(expect_answer(reply, "a turn that stopped on length"), nonce("said"), reply)
    reasons = finish_reasons_of(reply)
    expect(reasons == ["length"], "finish reason 'length'", repr(reasons), "pass the finish reason on", reply)


@pytest.mark.requirement("AE-REPLY-10")
@pytest.mark.parametrize(
    ("ending", "stream"),
    [
        *(
            pytest.param(ending, stream, id=f"{ending}-{'stream' if stream else 'json'}")
            for ending in ("stop", "length", "stop after a tool step")
            for stream in (False, True)
        ),
        pytest.param("content_filter", False, id="content_filter-json"),
    ],
)
def test_the_finish_reason_is_one_of_the_api(
    client: Client,
    script: Script,
    nonce: Callable[[str], str],
    key: KeyFacts,
    agent: Agent,
    expect_plain_turn: Callable[[str], None],
    ending: str,
    stream: bool,
) -> None:
    """opencode's own names are translated, and steps with tools are not the turn's end: clients wait for their calls.

    A turn that a filter stopped may be a failure: opencode 1.18.33 ends it with an error.
    """
    finish, _, after_tools = ending.partition(" ")
    steps = (Answer(text="", tool_calls=(CALL,), finish="tool_calls"),) if after_tools else ()
    script.answer("answer", *steps, Answer(text=nonce("said"), finish=finish), nonce=nonce("asked"))
    reply = client.send("ask", ask(agent.id, nonce("asked"), stream=stream), key=key.name)
    if finish == "content_filter" and reply.status == 502:
        expect_plain_turn("afterwards")
        return
    expect_said(expect_answer(reply, f"a turn that ended with {ending}"), nonce("said"), reply)
    reasons = finish_reasons_of(reply)
    known = len(reasons) == 1 and reasons[0] in API_REASONS[:3]
    wanted = f"one finish reason, of {', '.join(API_REASONS[:3])} (there are no tool calls in the answer)"
    expect(known, wanted, repr(reasons), "translate opencode's finish reasons into the API's", reply)
