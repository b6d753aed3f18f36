"""What counts as asking for a stream."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from harness.actors import Client, JournalReader
from harness.chat import ask, error_of, work_in
from harness.check import NotApplicable, expect
from harness.exchange import Exchange
from harness.expectations import expect_completion, expect_no_calls, expect_refusal, shown
from harness.target import Agent, Facts
from harness.target_keys import KeyFacts

MEND = "take only a JSON boolean for the flag: body.get('stream') is True, not bool(body.get('stream'))"

WRONG_FLAGS: list[Any] = ["false", "true", 1, 0, 1.0, "", [], {}]


def expect_refused_flag(answer: Exchange, why: str) -> None:
    """A 400 that names `stream`."""
    expect_refusal(answer, {400}, why, MEND)
    error = error_of(answer)
    named = error.get("param") == "stream" or "stream" in str(error.get("message"))
    expect(named, f"a refusal that names `stream` for {why}", shown(answer), "say which parameter is wrong", answer)


@pytest.mark.requirement("AE-STREAM-1")
@pytest.mark.parametrize("flag", WRONG_FLAGS, ids=json.dumps)
def test_a_flag_that_is_not_a_boolean_never_yields_a_stream(
    client: Client,
    nonce: Callable[[str], str],
    target: Facts,
    key: KeyFacts,
    agent: Agent,
    expect_works: Callable[[], None],
    flag: Any,
) -> None:
    """It is refused or taken for false, as the target declares; where it declares nothing, either will do."""
    why = f"stream: {json.dumps(flag)}"
    answer = client.send("wrong flag", ask(agent.id, nonce("wrong flag"), stream=flag), key=key.name)
    expect(answer.content_type != "text/event-stream", f"no event stream for {why}", shown(answer), MEND, answer)
    policy = target.policies.non_boolean_stream
    if policy == "reject" or (policy is None and answer.status == 400):
        expect_refused_flag(answer, why)
    else:
        expect_completion(answer, why)
    plain = client.send("right flag", ask(agent.id, nonce("right flag"), stream=False), key=key.name)
    expect_completion(plain, "stream: false")
    expect_works()


@pytest.mark.requirement("AE-STREAM-1")
def test_a_refused_flag_drives_no_turn(
    client: Client, journal: JournalReader, nonce: Callable[[str], str], target: Facts, key: KeyFacts, agent: Agent
) -> None:
    """Where wrong flags are refused, nothing of such a request reaches upstream."""
    if target.policies.non_boolean_stream != "reject":
        raise NotApplicable("the target does not declare non_boolean_stream = reject")
    for number, flag in enumerate(WRONG_FLAGS):
        answer = client.send(f"flag {number}", ask(agent.id, nonce("refused"), stream=flag), key=key.name)
        expect_refused_flag(answer, f"stream: {json.dumps(flag)}")
    expect_no_calls(work_in(journal.read("opencode", "opencode")), "opencode", "a refused stream flag")
    expect_no_calls(journal.read("model", "model"), "the model server", "a refused stream flag")
    plain = client.send("right flag", ask(agent.id, nonce("right flag"), stream=False), key=key.name)
    expect_completion(plain, "stream: false")
