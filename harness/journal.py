"""What every hop received and answered, in order of arrival, thread-safe.

The journal is cut into windows, one per check. An exchange belongs to the window in which it began. What the
window holds is handed over when it closes; what an exchange still open then receives later is dropped, so a
stream that a target keeps open for the whole run costs nothing. A listener is told all of it as it comes.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from harness.exchange import Chunk, End, Exchange, Headers, Hop, Request

WINDOW_BYTES = 64 * 1024 * 1024
"""Bytes of bodies, of requests and answers, that one window keeps; from the first piece that does not fit on, what
comes is counted and not kept, so that a kept body is never one with a hole."""


class Listener:
    """Is told what happens in a journal, in order and under its lock; this one takes no notice."""

    def began(self, exchange: Exchange) -> None:
        """An exchange began, with its request whole."""

    def grew(self, number: int, chunk: Chunk) -> None:
        """A piece was added to the body of an exchange's answer."""

    def changed(self, number: int, fields: Mapping[str, Any]) -> None:
        """These fields of an exchange changed."""

    def window_closed(self) -> None:
        """No more is told of the exchanges so far."""


_NOBODY = Listener()


class Recording:
    """An exchange that is being recorded. Its methods may be called from any thread; after `close` they do nothing."""

    def __init__(self, journal: Journal, exchange: Exchange) -> None:
        self._journal = journal
        # The same instant as the exchange's own: times of one exchange can be compared with those of another.
        self._began = journal.epoch + exchange.began
        self._chunks: list[Chunk] = []
        self._exchange = exchange

    def head(self, status: int, headers: Headers) -> None:
        """The answer's status line and headers have been sent or received."""
        self.change(status=status, headers=headers)

    def data(self, data: bytes) -> None:
        """A piece of the answer's body has been sent or received."""
        self.grow(Chunk(self._age(), data))

    def fault(self, name: str) -> None:
        """Our side does something wrong on purpose."""
        self.change(fault=name)

    def close(self, end: End, error: str | None = None) -> None:
        """The answer is over; only the first call counts."""
        self.change(end=end, duration=self._age(), error=error)

    def grow(self, chunk: Chunk) -> None:
        """A piece of the answer's body came when `chunk` says."""
        with self._journal.changed:
            if self._exchange.end == "open":
                self._journal.listener_to(self).grew(self._exchange.number, chunk)
                if self._journal.admit(self, len(chunk.data)):
                    self._chunks.append(chunk)
            self._journal.changed.notify_all()

    def change(self, **fields: Any) -> None:
        """Fields of the exchange are others from now on."""
        with self._journal.changed:
            if self._exchange.end == "open":
                self._journal.listener_to(self).changed(self._exchange.number, fields)
                self._exchange = replace(self._exchange, **fields)
            self._journal.changed.notify_all()

    def snapshot(self) -> Exchange:
        """The exchange as far as it has come."""
        return replace(self._exchange, chunks=tuple(self._chunks))

    def _age(self) -> float:
        return time.monotonic() - self._began


@dataclass(frozen=True)
class Window:
    """What a closed window held: the exchanges that began in it, and how many body bytes were not kept."""

    exchanges: tuple[Exchange, ...]
    dropped_bytes: int


class Journal:
    """All exchanges of a run. `changed` is notified at every change, and `listener` told it.

    `epoch` is when the run began, on the system's monotonic clock.
    """

    def __init__(self, first_number: int = 1) -> None:
        self.changed = threading.Condition(threading.RLock())
        self.epoch = time.monotonic()
        self.listener = Listener()
        self._next = first_number
        self._open: dict[Recording, None] = {}
        self._kept = 0
        self._dropped = 0

    def record(self, hop: Hop, request: Request, label: str | None = None, began: float | None = None) -> Recording:
        """Begin an exchange in the current window, now or when it `began`."""
        with self.changed:
            exchange = Exchange(self._next, hop, request, self._now() if began is None else began, label)
            self.listener.began(exchange)
            if not self._keep(len(request.body)):
                exchange = replace(exchange, request=replace(request, body=b""))
            self._next += 1
            recording = Recording(self, exchange)
            self._open[recording] = None
            self.changed.notify_all()
            return recording

    def admit(self, recording: Recording, size: int) -> bool:
        """Whether `size` more bytes of a body are kept; called by recordings, under the lock."""
        return recording in self._open and self._keep(size)

    def listener_to(self, recording: Recording) -> Listener:
        """Who is told what comes of a recording; called by recordings, under the lock."""
        return self.listener if recording in self._open else _NOBODY

    def _keep(self, size: int) -> bool:
        if size and (self._dropped or self._kept + size > WINDOW_BYTES):
            self._dropped += size
            return False
        self._kept += size
        return True

    def seen(self, hop: Hop | None = None) -> tuple[Exchange, ...]:
        """The current window's exchanges on `hop` (all hops when None), in order of arrival."""
        with self.changed:
            snapshots = tuple(recording.snapshot() for recording in self._open)
        return tuple(exchange for exchange in snapshots if hop is None or exchange.hop == hop)

    def wait(self, hop: Hop | None, until: Callable[[tuple[Exchange, ...]], bool], within: float) -> bool:
        """Wait until `until(seen(hop))` holds; whether it did within so many seconds."""
        with self.changed:
            return self.changed.wait_for(lambda: until(self.seen(hop)), timeout=within)

    def calm(self, hop: Hop) -> float:
        """Seconds since a request last began on `hop` in this window, or one of the client's began or ended."""
        now, seen = self._now(), self.seen()
        begun = [exchange.began for exchange in seen if exchange.hop in (hop, "client")]
        ended = [e.began + e.duration for e in seen if e.hop == "client" and e.duration is not None]
        return now - max(begun + ended, default=float("-inf"))

    def close_window(self) -> Window:
        """Hand over the current window and begin the next one."""
        with self.changed:
            window = Window(self.seen(), self._dropped)
            self._open.clear()
            self._kept = self._dropped = 0
            self.listener.window_closed()
            return window

    def _now(self) -> float:
        return time.monotonic() - self.epoch
