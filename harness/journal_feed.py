"""A journal told to another process as lines of JSON, and kept there as part of a journal of its own."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from harness.exchange import Chunk, Exchange, bytes_from_json, bytes_to_json, exchange_from_json, exchange_to_json
from harness.journal import Journal, Listener, Recording


class Teller(Listener):
    """Gives each piece of news to `write` as a line; `told` counts them."""

    def __init__(self, write: Callable[[bytes], None]) -> None:
        self._write = write
        self.told = 0

    def began(self, exchange: Exchange) -> None:
        """Part of `Listener`."""
        self._tell({"began": exchange_to_json(exchange)})

    def grew(self, number: int, chunk: Chunk) -> None:
        """Part of `Listener`."""
        self._tell({"grew": number, "at": chunk.at, "data": bytes_to_json(chunk.data)})

    def changed(self, number: int, fields: Mapping[str, Any]) -> None:
        """Part of `Listener`."""
        self._tell({"changed": number, "fields": dict(fields)})

    def window_closed(self) -> None:
        """Part of `Listener`."""
        self._tell({"window": "closed"})

    def _tell(self, news: dict[str, Any]) -> None:
        self.told += 1
        self._write(json.dumps(news).encode() + b"\n")


def hear(line: str, listener: Listener) -> None:
    """Tell `listener` what a `Teller` wrote in a line."""
    match json.loads(line):
        case {"began": exchange}:
            listener.began(exchange_from_json(exchange))
        case {"grew": number, "at": at, "data": data}:
            listener.grew(number, Chunk(at, bytes_from_json(data)))
        case {"changed": number, "fields": fields}:
            if "headers" in fields:
                fields["headers"] = tuple((name, value) for name, value in fields["headers"])
            listener.changed(number, fields)
        case {"window": "closed"}:
            listener.window_closed()


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
