"""Both names of the limit are obeyed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from harness.actors import Client, Script
from harness.chat import ask, finish_reasons_of
from harness.check import Inconclusive, NotMeasured, expect
from harness.exchange import Exchange
from harness.fakes.model.script import Answer
from harness.model_calls import expect_answered, usage_of
from harness.target import Agent
from harness.target_keys import KeyFacts

FEW, MANY = 8, 48
LONG = "one two three four five six seven eight nine ten "
FIELDS = ["max_tokens", "max_completion_tokens"]


@pytest.fixture
def counting(
    client: Client, script: Script, nonce: Callable[[str], str], key: KeyFacts, agent: Agent
) -> Callable[..., Exchange]:
    """Asks, under a label, for a long answer."""

    def ask_for(label: str, **fields: Any) -> Exchange:
        if script.reaches(f"model {label}", "model"):
            script.answer(label, Answer(text=f"{nonce('said')} {LONG * 12}"), nonce=nonce("asked"))
        prompt = f"Count from one to two hundred in words. ({nonce('asked')})"
        return client.send(label, ask(agent.id, prompt, **fields), key=key.name)

    return ask_for


@pytest.mark.requirement("MS-MAXTOK-1")
@pytest.mark.parametrize("stream", [False, True], ids=["json", "stream"])
@pytest.mark.parametrize("field", FIELDS)
def test_a_limit_is_obeyed(counting: Callable[..., Exchange], script: Script, field: str, stream: bool) -> None:
    """Few tokens come of a small limit, more of a larger one."""
    options: dict[str, Any] = {"stream": True, "stream_options": {"include_usage": True}} if stream else {}
    short = counting("few", **options, **{field: FEW})
    text = expect_answered(short, f"{field} = {FEW}")
    reasons, tokens = finish_reasons_of(short), usage_of(short).get("completion_tokens")
    mend = f"obey {field}"
    if reasons == ["stop"] and not script.reaches("scripted", "model") and (tokens or FEW) < FEW:
        raise NotMeasured(f"the model had no more to say than {tokens} tokens")
    expect(reasons == ["length"], f"finish reason 'length' for {field} = {FEW}", repr(reasons), mend, short)
    if tokens is not None:
        expect(tokens <= FEW, f"at most {FEW} tokens for {field} = {FEW}", f"{tokens}", mend, short)
    longer = counting("many", **options, **{field: MANY})
    more = expect_answered(longer, f"{field} = {MANY}")
    grown = usage_of(longer).get("completion_tokens")
    if text or more:
        expect(len(text) < len(more), f"less text for {FEW} tokens than for {MANY}", repr(text), mend, short)
    elif tokens is None or grown is None or tokens >= grown:
        raise Inconclusive(f"{field} = {MANY} gives {grown} tokens, not more than the {tokens} for {FEW}")
