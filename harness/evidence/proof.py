"""What a run of live round trips proves, and what it does not: read from its results."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from harness.evidence.provenance import Provenance
from harness.exchange import Exchange, Hop
from harness.results import Results
from harness.trail import AFTERWARDS, ASKED, FAULT, OUTPUT, SAID, sightings
from harness.verdict import Checked, Summary
from harness.world import derive_nonce

_PLANTED: Mapping[str, str] = {
    ASKED: "in the client's prompt",
    SAID: "in the model's answer",
    OUTPUT: "in two halves, in a tool call",
    FAULT: "in a fault of the model server",
    f"{AFTERWARDS} {ASKED}": "in the client's next prompt",
    f"{AFTERWARDS} {SAID}": "in the model's next answer",
}
_BEHIND: tuple[Hop, ...] = ("opencode", "proxy", "model", "provider")


@dataclass(frozen=True)
class Word:
    """A word of a check, where it was planted, and where it was seen: (number, hop, side), in order."""

    word: str
    planted: str
    seen: tuple[tuple[int, Hop, str], ...]


def exchanges_of(checked: Checked, results: Results) -> tuple[Exchange, ...]:
    """The exchanges of a check, in their order."""
    numbers = checked.result.exchanges if checked.result else ()
    return tuple(results.exchanges[number] for number in numbers if number in results.exchanges)


def words_of(checked: Checked, results: Results) -> tuple[Word, ...]:
    """The words of a check that were seen anywhere."""
    found = []
    for label, planted in _PLANTED.items():
        word = derive_nonce(results.header.seed_of(checked.check), checked.check, label)
        seen = sightings(exchanges_of(checked, results), word)
        if seen:
            places = tuple((one.exchange.number, one.exchange.hop, one.side) for one in seen)
            found.append(Word(word, planted, places))
    return tuple(found)


def hops_seen(results: Results) -> tuple[Hop, ...]:
    """The hops behind the target that carried anything."""
    carried = {exchange.hop for exchange in results.exchanges.values()}
    return tuple(hop for hop in _BEHIND if hop in carried)


def unproved(summary: Summary, provenance: Provenance) -> Iterator[str]:
    """What the evidence does not prove, each in a sentence."""
    results = summary.results
    hops, names = hops_seen(results), [part.get("name", "") for part in results.header.parts]
    yield "Who made it. A seal detects edits, and anyone can make one; a signature says who."
    yield "That the target keeps the rest of its contract: `turnproof run` holds it to each row, and this does not."
    if "provider" in hops:
        yield (
            "That only a model could have answered: the word was asked for in the prompt, so the provider's tap shows "
            "that it was called and answered with it, and no more."
        )
    elif "model" in hops:
        yield "How a real model answers: the model server is a scripted one of turnproof's."
    else:
        yield "Any round trip: nothing was seen behind the target."
    for name in names:
        if name.endswith("stand-in") and not name.startswith("model"):
            yield f"That the real {name.removesuffix(' stand-in')} does the same: a stand-in was behind the target."
    if results.header.target.kind == "agent-endpoint":
        if "opencode" not in hops:
            yield "What passed between the target and its opencode: nobody watched that hop."
        if not any(name.startswith("opencode") for name in names):
            yield "Which opencode it was: the target starts one of its own."
        if "litellm" not in names:
            yield "That it works behind a LiteLLM proxy: there was none in the chain."
    yield from _about_commit(provenance, results.header.target.url_given)
    for checked in summary.checks:
        if checked.status in ("not-measured", "not-run"):
            yield f"Of {', '.join(requirement.id for requirement in checked.requirements)}: it was not measured."


def _about_commit(provenance: Provenance, url_given: bool) -> Iterator[str]:
    commit = provenance.target
    if commit is None:
        yield "Which commit the target was made of: turnproof could not see it."
    elif commit.claimed:
        yield "That the target was made of the commit that is named: a person said so."
    elif commit.changed:
        yield "What the commit itself does: files of its folder were changed and not committed."
    else:
        yield "That what is deployed elsewhere is the commit that was run here."
    if url_given:
        yield "That the server at the URL is the one that is meant."
