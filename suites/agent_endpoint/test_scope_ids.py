"""An agent's id is one name, compared whole, and a name outside the scope tells nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any
from urllib.parse import quote

import pytest

from harness.actors import Client, JournalReader, Script
from harness.chat import ask, error_of, prompts_in
from harness.check import NotApplicable, NotMeasured, expect
from harness.exchange import Exchange, Request
from harness.expectations import expect_completion, expect_refusal, expect_said, shown
from harness.fakes.model.script import Answer
from harness.target import Agent, Facts
from harness.target_keys import KeyFacts

MEND_SAME = "refuse with one and the same answer, whether the agent does not exist or may not be used"
MEND_EXACT = "look the id up as it came: no trimming, no folding of case, no matching of parts"
MEND_WHOLE = "do not split the id at slashes: the whole of it names the agent"

LOOK_ALIKES = {"a": "\u0430", "c": "\u0441", "e": "\u0435", "o": "\u043e", "p": "\u0440", "x": "\u0445", "i": "\u0456"}
"""Latin letters and Cyrillic ones that look the same."""

WIDE = {chr(code): chr(code + 0xFEE0) for code in range(ord("a"), ord("z") + 1)}
"""Latin letters and those of full width, which Unicode's compatibility forms make the same."""

VARIANTS: dict[str, Callable[[str], str]] = {
    "other case": str.swapcase,
    "space before": lambda id_: f" {id_}",
    "space after": lambda id_: f"{id_} ",
    "line break after": lambda id_: f"{id_}\n",
    "provider before": lambda id_: f"openai/{id_}",
    "slash after": lambda id_: f"{id_}/",
    "percent-encoded": lambda id_: f"%{ord(id_[0]):02x}{id_[1:]}" if id_.isascii() else id_,
    "full width": lambda id_: next((id_.replace(a, b, 1) for a, b in WIDE.items() if a in id_), id_),
    "prefix": lambda id_: id_[:-1],
    "tail": lambda id_: id_[1:],
    "suffix": lambda id_: f"{id_}x",
    "path after": lambda id_: f"{id_}/x",
    "look-alike": lambda id_: next((id_.replace(a, b, 1) for a, b in LOOK_ALIKES.items() if a in id_), id_),
}


def word_of_length(word: str, length: int, taken: Iterable[str]) -> str:
    """A name of that length made of `word`'s letters that is not taken."""
    letters = word * (length // len(word) + 2)
    return next(name for at in range(len(word)) if (name := letters[at : at + length]) not in taken)


def nameless(value: Any, name: str) -> Any:
    """An error with the echoed name left out."""
    return {field: text.replace(name, "...") if isinstance(text, str) else text for field, text in value.items()}


@pytest.mark.requirement("AE-SCOPE-2")
@pytest.mark.parametrize("stream", [False, True], ids=["json", "stream"])
def test_who_may_not_use_an_agent_does_not_learn_that_it_exists(
    client: Client,
    nonce: Callable[[str], str],
    target: Facts,
    key: KeyFacts,
    outsider: Agent,
    expect_works: Callable[[], None],
    stream: bool,
) -> None:
    """Status, media type and error are the same as for a name of the same length that nobody has."""
    nobody = nobody_like(outsider, nonce("nobody"), target)
    exists = client.send("exists", ask(outsider.id, "Hello", stream=stream), key=key.name)
    unknown = client.send("unknown", ask(nobody, "Hello", stream=stream), key=key.name)
    expect_same(exists, outsider.id, unknown, nobody)
    expect_works()


@pytest.mark.requirement("AE-SCOPE-2")
def test_who_may_not_use_an_agent_without_a_model_does_not_learn_that_it_exists(
    client: Client,
    nonce: Callable[[str], str],
    target: Facts,
    modelless_outsider: tuple[KeyFacts, Agent],
    expect_works: Callable[[], None],
) -> None:
    """Nor that it cannot be driven."""
    key, without = modelless_outsider
    nobody = nobody_like(without, nonce("nobody"), target)
    exists = client.send("exists", ask(without.id, "Hello"), key=key.name)
    unknown = client.send("unknown", ask(nobody, "Hello"), key=key.name)
    expect_same(exists, without.id, unknown, nobody)
    expect_works()


@pytest.mark.requirement("AE-SCOPE-2")
def test_who_may_not_use_an_agent_learns_nothing_where_single_models_are_described(
    client: Client, nonce: Callable[[str], str], target: Facts, key: KeyFacts, agent: Agent, outsider: Agent
) -> None:
    """The route may be left out, but not tell more than completions do."""
    nobody = nobody_like(outsider, nonce("nobody"), target)
    described, exists, unknown = (
        client.send(label, Request("GET", f"/v1/models/{quote(id_, safe='')}"), key=key.name)
        for label, id_ in (("in scope", agent.id), ("exists", outsider.id), ("unknown", nobody))
    )
    if described.status != 200:
        raise NotApplicable(f"single models are not described: {shown(described)}")
    expect_same(exists, outsider.id, unknown, nobody)


def nobody_like(agent: Agent, word: str, target: Facts) -> str:
    """A name of the same length as an agent's that nobody has."""
    return word_of_length(word, len(agent.id), {known.id for known in target.agents})


def expect_same(exists: Exchange, name: str, unknown: Exchange, nobody: str) -> None:
    """An agent that exists is refused like one that does not, but for the names."""
    expect_refusal(unknown, {404}, "an agent that does not exist", MEND_SAME)
    same = (exists.status, exists.content_type, nameless(error_of(exists), name)) == (
        unknown.status,
        unknown.content_type,
        nameless(error_of(unknown), nobody),
    )
    expect(same, f"the same refusal as for an unknown agent: {shown(unknown)}", shown(exists), MEND_SAME, exists)


@pytest.mark.requirement("AE-SCOPE-3")
@pytest.mark.parametrize("variant", VARIANTS.values(), ids=VARIANTS.keys())
def test_a_name_that_is_only_like_an_agents_is_not_found(
    client: Client,
    target: Facts,
    key: KeyFacts,
    agent: Agent,
    expect_works: Callable[[], None],
    variant: Callable[[str], str],
) -> None:
    """Nearly the id of an agent in scope is no agent's id."""
    name = variant(agent.id)
    if not name or name in {known.id for known in target.agents}:
        raise NotApplicable(f"{agent.id!r} has no variant of this kind that is no agent's id")
    refused = client.send("variant", ask(name, "Hello"), key=key.name)
    expect_refusal(refused, {404}, f"the model {name!r} where the agent is {agent.id!r}", MEND_EXACT)
    expect_works()


@pytest.fixture
def slashed(target: Facts) -> tuple[KeyFacts, Agent]:
    """An agent with a slash in its id, and a key that may use it."""
    for key in target.keys:
        for agent in target.agents:
            if key.state == "valid" and agent.id in key.agents and "/" in agent.id and not agent.no_model:
                return key, agent
    raise NotMeasured("the target file names no agent with a slash in its id that has a model")


@pytest.mark.requirement("AE-SCOPE-4")
@pytest.mark.parametrize("stream", [False, True], ids=["json", "stream"])
def test_an_id_with_slashes_works_as_a_whole(
    client: Client,
    script: Script,
    journal: JournalReader,
    nonce: Callable[[str], str],
    slashed: tuple[KeyFacts, Agent],
    stream: bool,
) -> None:
    """One prompt with that agent's own model, and its answer under the id that was asked for."""
    key, agent = slashed
    script.answer("answer", Answer(text=nonce("said")), nonce=nonce("asked"))
    reply = client.send("ask", ask(agent.id, nonce("asked"), stream=stream), key=key.name)
    if stream:
        expect(reply.status == 200, "a stream for a slashed id", shown(reply), MEND_WHOLE, reply)
    else:
        expect_said(expect_completion(reply, f"the agent {agent.id!r}"), nonce("said"), reply)
        named = reply.json()["model"]
        expect(named == agent.id, f"the model {agent.id!r} in the answer", repr(named), MEND_WHOLE, reply)
    prompts = prompts_in(journal.read("opencode", "opencode"))
    expect(len(prompts) == 1, "exactly one prompt", f"{len(prompts)} prompts", MEND_WHOLE, reply)
    if agent.model is not None:
        expect_prompted(prompts[0], agent)


def expect_prompted(prompt: Exchange, agent: Agent) -> None:
    """The prompt names the agent's own model."""
    body = prompt.request.json()
    model = body.get("model") if isinstance(body, dict) else None
    wanted = {"providerID": agent.provider, "modelID": agent.model}
    same = isinstance(model, dict) and {name: model.get(name) for name in wanted} == wanted
    expect(same, f"a prompt that names {wanted}", repr(model), MEND_WHOLE, prompt)


@pytest.mark.requirement("AE-SCOPE-4")
@pytest.mark.parametrize("part", ["head", "tail"])
def test_a_part_of_an_id_with_slashes_is_not_found(
    client: Client,
    target: Facts,
    slashed: tuple[KeyFacts, Agent],
    expect_works: Callable[[], None],
    part: str,
) -> None:
    """What stands before the first slash, or after it, names nobody."""
    key, agent = slashed
    head, _, tail = agent.id.partition("/")
    name = head if part == "head" else tail
    if not name or name in {known.id for known in target.agents}:
        raise NotApplicable(f"the {part} of {agent.id!r} is an agent's id itself")
    refused = client.send("part", ask(name, "Hello"), key=key.name)
    expect_refusal(refused, {404}, f"the model {name!r} where the agent is {agent.id!r}", MEND_WHOLE)
    whole = client.send("whole", ask(agent.id, "Hello"), key=key.name)
    expect_completion(whole, f"the agent {agent.id!r}")
    expect_works()
