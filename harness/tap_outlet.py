"""How a tap writes an answer's body on: as it comes, or in packets that cut characters apart."""

from __future__ import annotations

import asyncio
import re
from collections import deque

from harness.fakes.http import Wire, encode_chunk
from harness.journal import Recording

_UP_TO_FIRST_BYTE = re.compile(rb"[^\xc0-\xff]*[\xc0-\xff]|[^\xc0-\xff]+")
"""Bytes up to and with the first byte of a UTF-8 character of several, or up to the end."""


def cut_characters(data: bytes) -> list[bytes]:
    """`data` in pieces, each but the last ending after the first byte of a character of several bytes."""
    return _UP_TO_FIRST_BYTE.findall(data)


class Outlet:
    """Writes a body to `wire`; with a `pause`, in packets that cut characters, so many seconds apart."""

    def __init__(self, wire: Wire, recording: Recording, pause: float | None) -> None:
        self._wire, self._recording, self._pause = wire, recording, pause
        self._waiting: deque[bytes] = deque()
        self._writing: asyncio.TimerHandle | None = None
        self._empty = asyncio.Event()
        self._empty.set()

    def put(self, data: bytes, framed: bool) -> None:
        """Write `data`, as chunks where the body is `framed` in chunks."""
        pieces = [data] if self._pause is None else cut_characters(data)
        if len(pieces) > 1:
            self._recording.fault("characters cut")
        self._waiting += [encode_chunk(piece) if framed else piece for piece in pieces]
        if self._writing is None:
            self._write()

    async def drained(self) -> None:
        """Wait until all is written."""
        await self._empty.wait()

    def _write(self) -> None:
        self._writing = None
        while self._waiting:
            self._wire.write(self._waiting.popleft())
            if self._pause is not None and self._waiting:
                self._empty.clear()
                self._writing = asyncio.get_running_loop().call_later(self._pause, self._write)
                return
        self._empty.set()
