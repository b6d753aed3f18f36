"""A journal told to another process as lines of JSON, and kept there as part of a journal of its own."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Callable, Mapping
from typing import Any

from harness.exchange import Chunk, Exchange, bytes_from_json, bytes_to_json, exchange_from_json, exchange_to_json
from harness.journal import Journal, Listener, Recording


class Teller(Listener):
    """Gathers news, and calls `wake` at the first that was not yet taken; `told` counts all that was gathered.

    News may come on any thread, and is put into words when it is taken: at once, which costs a fraction.
    """

    def __init__(self, wake: Callable[[], object]) -> None:
        self._wake = wake
        self._news: deque[Callable[[], Any]] = deque()
        self.told = 0

    def began(self, exchange: Exchange) -> None:
        """Part of `Listener`."""
        self._tell(lambda: ["began", exchange_to_json(exchange)])

    def grew(self, number: int, chunk: Chunk) -> None:
        """Part of `Listener`."""
        self._tell(lambda: ["grew", number, chunk.at, bytes_to_json(chunk.data)])

    def changed(self, number: int, fields: Mapping[str, Any]) -> None:
        """Part of `Listener`."""
        self._tell(lambda: ["changed", number, dict(fields)])

    def window_closed(self) -> None:
        """Part of `Listener`."""
        self._tell(lambda: ["window closed"])

    def take(self) -> bytes:
        """A line with all that was gathered; empty when that is nothing."""
        news = []
        while self._news:
            news.append(self._news.popleft()())
        return json.dumps(news).encode() + b"\n" if news else b""

    def _tell(self, news: Callable[[], Any]) -> None:
        self.told += 1
        self._news.append(news)
        if len(self._news) == 1:
            self._wake()


def hear(line: str, listener: Listener) -> int:
    """Tell `listener` the news in a line that a `Teller` gave; how many there were."""
    news = json.loads(line)
    for each in news:
        match each:
            case ["began", exchange]:
                listener.began(exchange_from_json(exchange))
            case ["grew", number, at, data]:
                listener.grew(number, Chunk(at, bytes_from_json(data)))
            case ["changed", number, fields]:
                if "headers" in fields:
                    fields["headers"] = tuple((name, value) for name, value in fields["headers"])
                listener.changed(number, fields)
            case ["window closed"]:
                listener.window_closed()
    return len(news)


class Mirror(Listener):
    """Keeps in `journal`, under numbers of its own, what it is told of another whose `epoch` is given."""

    def __init__(self, journal: Journal, epoch: float) -> None:
        self._journal = journal
        self._ahead = epoch - journal.epoch
        self._recordings: dict[int, Recording] = {}

    def began(self, exchange: Exchange) -> None:
        """Part of `Listener`."""
        began = exchange.began + self._ahead
        self._recordings[exchange.number] = self._journal.record(exchange.hop, exchange.request, exchange.label, began)

    def grew(self, number: int, chunk: Chunk) -> None:
        """Part of `Listener`."""
        if number in self._recordings:
            self._recordings[number].grow(chunk)

    def changed(self, number: int, fields: Mapping[str, Any]) -> None:
        """Part of `Listener`."""
        if number in self._recordings:
            self._recordings[number].change(**fields)

    def window_closed(self) -> None:
        """Part of `Listener`."""
        self._recordings.clear()
