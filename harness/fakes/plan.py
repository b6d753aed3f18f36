"""What a stand-in will write, and when: decided by pure code, played on a wire by `play`."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from harness.exchange import Chunk, Headers
from harness.fakes.http import BODILESS, Wire, encode_chunk, encode_head
from harness.journal import Recording

Ending = Literal["complete", "cut", "reset", "hang"]
"""`complete`: as HTTP wants it; `cut`: the connection is closed early; `reset`: aborted; `hang`: nothing more comes."""


@dataclass(frozen=True)
class Plan:
    """An answer: its head, the pieces of its body with the seconds after which each is due, and its ending.

    A plan with `status` None says nothing at all before its ending. A `stream` is sent in chunked framing. The body
    is left out where HTTP has none: status 204 and 304, and the answer to HEAD. Pieces from the index `held_from` on
    wait for the gate of the name `gate`, when it has one.
    """

    status: int | None
    headers: Headers = ()
    pieces: tuple[Chunk, ...] = ()
    stream: bool = False
    ending: Ending = "complete"
    fault: str | None = None
    gate: str | None = None
    held_from: int = 0


class Gate:
    """Holds plans back until it is opened, for good. Used on the event loop's thread."""

    def __init__(self) -> None:
        self._held: list[Callable[[], None]] | None = []

    @property
    def closed(self) -> bool:
        """Whether it has not been opened yet."""
        return self._held is not None

    def hold(self, go_on: Callable[[], None]) -> None:
        """Call `go_on` when the gate is opened; only while it is closed."""
        assert self._held is not None
        self._held.append(go_on)

    def open(self) -> None:
        """Let go on what is held, and hold nothing any more."""
        held, self._held = self._held or [], None
        for go_on in held:
            go_on()


class _Player:
    """Plays one plan on absolute deadlines; what is due at the same time goes out in one write."""

    def __init__(
        self, plan: Plan, wire: Wire, recording: Recording, finished: Callable[[], None], gate: Gate | None
    ) -> None:
        self._plan, self._wire, self._recording, self._finished = plan, wire, recording, finished
        self._gate = gate
        self._loop = asyncio.get_running_loop()
        self._began = self._loop.time()
        self._bodiless = plan.status in BODILESS or recording.snapshot().request.method == "HEAD"
        self._pieces = () if self._bodiless else plan.pieces
        self._next = 0
        self._left = False
        self._timer: asyncio.TimerHandle | None = None
        wire.gone = self._gone
        if plan.fault:
            recording.fault(plan.fault)
        self._step(self._head())

    def _head(self) -> bytes:
        if self._plan.status is None:
            return b""
        headers = self._plan.headers
        if self._plan.stream:
            headers += (("transfer-encoding", "chunked"),)
        elif self._plan.status not in BODILESS:
            headers += (("content-length", str(sum(len(piece.data) for piece in self._plan.pieces))),)
        self._recording.head(self._plan.status, headers)
        return encode_head(self._plan.status, headers)

    def _step(self, data: bytes = b"") -> None:
        if self._left:
            return
        pieces, age = self._pieces, self._loop.time() - self._began
        while self._next < len(pieces) and pieces[self._next].at <= age and not self._is_held():
            piece = pieces[self._next].data
            self._recording.data(piece)
            data += encode_chunk(piece) if self._plan.stream else piece
            self._next += 1
        if self._is_held():
            assert self._gate is not None
            self._gate.hold(self._step)
            self._write(data)
        elif self._next < len(pieces):
            self._timer = self._loop.call_at(self._began + pieces[self._next].at, self._step)
            self._write(data)
        else:
            self._end(data)

    def _is_held(self) -> bool:
        at_gate = self._plan.held_from <= self._next < len(self._pieces)
        return at_gate and self._gate is not None and self._gate.closed

    def _end(self, data: bytes) -> None:
        ending = self._plan.ending
        if ending == "complete" and self._plan.stream and not self._bodiless:
            data += encode_chunk(b"")
        self._write(data)
        if ending == "hang":
            return
        self._recording.close("complete" if ending == "complete" else "cut")
        self._finished()
        if ending == "complete":
            self._wire.done()
        elif ending == "cut":
            self._wire.close()
        else:
            self._wire.reset()

    def _write(self, data: bytes) -> None:
        if data:
            self._wire.write(data)

    def _gone(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._left = True
        self._recording.close("gone")
        self._finished()


def play(
    plan: Plan,
    wire: Wire,
    recording: Recording,
    finished: Callable[[], None] = lambda: None,
    gate: Gate | None = None,
) -> None:
    """Write `plan` to `wire` and into `recording`; `finished` is called when it is over, either way.

    `gate` is the one that the plan names. Must be called on the event loop's thread.
    """
    _Player(plan, wire, recording, finished, gate)
