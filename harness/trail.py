"""A word's way through the chain, as the hops show it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from harness.chat import stream_of
from harness.check import expect
from harness.exchange import Exchange, Hop

ASKED, SAID, OUTPUT, FAULT = "asked", "said", "output", "fault"
"""The labels of the words of a check: planted in the prompt, in the model's answer, in what a tool prints, and in a
fault of the model server."""

AFTERWARDS = "afterwards"
"""The label of a turn that shows that the target still serves; those of its words begin with it."""

FAR_ENDS: tuple[Hop, ...] = ("model", "provider")
"""The hops of which a chain has one at its end."""

Side = Literal["request", "answer"]


@dataclass(frozen=True)
class Sighting:
    """Where a word was seen: in the request or the answer of an exchange."""

    exchange: Exchange
    side: Side


def asks(exchange: Exchange, word: str) -> bool:
    """Whether the body of the request holds the word."""
    return word.encode() in exchange.request.body


def answers(exchange: Exchange, word: str) -> bool:
    """Whether the body of the answer holds the word, also where a stream of completions cuts it in pieces."""
    if word.encode() in exchange.body:
        return True
    return exchange.content_type == "text/event-stream" and word in stream_of(exchange).text


def sightings(exchanges: Iterable[Exchange], word: str) -> tuple[Sighting, ...]:
    """Where the word was seen, in the order of the exchanges."""
    found: list[Sighting] = []
    for exchange in exchanges:
        found += [Sighting(exchange, "request")] if asks(exchange, word) else []
        found += [Sighting(exchange, "answer")] if answers(exchange, word) else []
    return tuple(found)


@dataclass(frozen=True)
class Passed:
    """What a hop behind the target has carried."""

    hop: Hop
    exchanges: tuple[Exchange, ...]

    def asking(self, word: str) -> tuple[Exchange, ...]:
        """The exchanges whose request holds the word."""
        return tuple(exchange for exchange in self.exchanges if asks(exchange, word))


def expect_passed(reply: Exchange, hops: Sequence[Passed], asked: str, said: str) -> None:
    """The word `asked` went from hop to hop to the far end, the last of `hops`, which answered with the word `said`."""
    mend = "pass the prompt on, and wait for the answer to it"
    before, began = "the client", reply.began
    for hop in hops:
        asking = hop.asking(asked)
        came = f"{len(hop.exchanges)} requests there, and none holds it"
        expect(bool(asking), f"the word {asked} of the prompt on the hop {hop.hop}", came, mend, reply)
        first = asking[0]
        came = f"{began - first.began:.3f} s before it"
        expect(first.began >= began, f"the word on the hop {hop.hop} after {before} sent it", came, mend, first)
        before, began = f"the hop {hop.hop}", first.began
    told = any(answers(exchange, said) for exchange in hops[-1].asking(asked))
    expect(told, f"the word {said} from the far end", "no answer there holds it", mend, reply)
