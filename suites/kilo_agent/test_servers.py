"""One configuration, whatever server is behind it."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from harness.actors import JournalReader, Script
from harness.check import expect
from harness.fakes.model.script import Answer
from harness.fixtures.kilo_agent import LARGE, MERGED
from harness.kilo_agent_actors import Agents
from harness.kilo_answers import expect_answered, items_of, text_in
from harness.target import Facts

MEND = "keep to what every OpenAI-compatible server understands, and read reasoning in either of its fields"


@pytest.mark.requirement("KA-SWAP-1")
@pytest.mark.parametrize("face", ["vllm-0.10.0", "vllm-0.31", "openai", "proxy", "gym"])
def test_the_same_configuration_works_with_every_server(
    starter: Agents, script: Script, journal: JournalReader, nonce: Callable[[str], str], target: Facts, face: str
) -> None:
    """The model is asked by its own name, and text and thought come back; of a command, the text alone."""
    asked, said, thought = nonce("asked"), nonce("said"), nonce("thought")
    starter.show("face", face)
    script.answer("script", Answer(said, thought), nonce=asked)
    reply = starter.start("agent", MERGED).respond("reply", asked)
    expect_answered(reply, said, f"a server like {face}")
    found = target.asked != "responses" or any(thought in text_in(item) for item in items_of(reply))
    expect(found, "the thought in the output", repr(items_of(reply)), MEND, reply)
    bodies = [call.request.json() for call in journal.read("calls", "model")]
    names = {body.get("model") for body in bodies if isinstance(body, dict)}
    expect(names == {LARGE}, f"calls for the model {LARGE}", repr(names), MEND)
