"""A key with a cap spends no more than that."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from harness.actors import Client, JournalReader
from harness.chat import ask, error_of, work_in
from harness.check import Inconclusive, NotMeasured, expect
from harness.exchange import Hop
from harness.expectations import expect_completion, expect_no_calls, expect_refusal, shown
from harness.target import Facts
from harness.target_keys import KeyFacts

MEND = "count turns by key, and refuse those over the cap with 429 and Retry-After before anything is sent upstream"

MEND_TYPE = "say rate_limit_error: server_error asks for the same again at once"


@pytest.mark.requirement("AE-KEYS-5")
def test_a_request_over_the_cap_is_refused_and_drives_no_turn(
    client: Client, journal: JournalReader, nonce: Callable[[str], str], target: Facts
) -> None:
    """As many turns as the cap allows are answered; of the next ones nothing reaches upstream.

    Where the target has another key with a cap, that one still works.
    """
    capped = [key for key in target.keys if key.state == "valid" and key.rate_cap]
    if not capped or capped[0].rate_cap is None:
        raise NotMeasured("the target file names no valid key with a rate_cap")
    key, *others = capped
    cap = capped[0].rate_cap
    agent = agent_of(key, target)
    for turn in range(cap):
        reply = client.send(f"turn {turn + 1}", ask(agent, nonce(f"turn {turn + 1}")), key=key.name)
        if turn == 0 and reply.status == 429:
            raise Inconclusive(f"the cap of key {key.name} is used up before the check began")
        expect_completion(reply, f"turn {turn + 1} of {cap} in a minute")
    hops: tuple[Hop, ...] = ("opencode", "model")
    before = [len(work_in(journal.read(f"{hop} before", hop))) for hop in hops]
    for stream in (False, True):
        label = "streamed over" if stream else "over"
        refused = client.send(label, ask(agent, nonce(label), stream=stream), key=key.name)
        expect_refusal(refused, {429}, f"a turn over the cap of {cap}", MEND)
        kind = error_of(refused).get("type")
        expect(kind != "server_error", "another error.type than server_error", shown(refused), MEND_TYPE, refused)
        wait = refused.header("retry-after")
        expect(bool(wait), "Retry-After", "no such header" if wait is None else shown(refused), MEND, refused)
    for hop, count in zip(hops, before, strict=True):
        expect_no_calls(work_in(journal.read(f"{hop} after", hop))[count:], hop, "a turn over the cap")
    for other in others[:1]:
        reply = client.send("another key", ask(agent_of(other, target), nonce("another key")), key=other.name)
        expect(reply.status != 429, "an answer to another key with a cap of its own", shown(reply), MEND, reply)
        expect_completion(reply, "a turn of another key with a cap")


def agent_of(key: KeyFacts, target: Facts) -> str:
    """The id of an agent with a model that a key may use."""
    return next(agent.id for agent in target.agents if agent.id in key.agents and not agent.no_model)
