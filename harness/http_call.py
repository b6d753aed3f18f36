"""One HTTP request over a connection of its own, and its answer as it comes, with whatever the far side does wrong."""

from __future__ import annotations

import asyncio
import functools
import ssl
from collections.abc import Iterable
from typing import Protocol
from urllib.parse import urlsplit

import httptools

from harness.exchange import Headers
from harness.fakes.http import BODILESS


class Receiver(Protocol):
    """Is told the answer: its head once, then the pieces of its body, without their framing."""

    def head(self, status: int, headers: Headers) -> None:
        """Called first."""

    def data(self, data: bytes) -> None:
        """Called for each piece."""


class CallFailed(Exception):
    """There was no connection, or it broke, or what came over it is no HTTP."""


class Bodiless(Exception):
    """So much came without a byte of a body that nothing but a head, a trailer or a framing without an end is there."""


BODILESS_BYTES = 1 << 20
"""So many bytes without one of a body are kept waiting for it: a head without an end costs no more memory."""


def overdue(deadline: float, late: float = 0.0) -> str:
    """What is said of an answer that had not ended `late` seconds after its `deadline` in seconds."""
    told = f": the declared deadline of {deadline:g} s, and {late:g} s more" if late else ""
    return f"no end within {deadline + late:g} s{told}"


def encode_request(method: str, target: str, headers: Iterable[tuple[str, str]], body: bytes) -> bytes:
    """A request as it goes over the wire."""
    lines = [f"{method} {target} HTTP/1.1", *(f"{name}: {value}" for name, value in headers), "", ""]
    return "\r\n".join(lines).encode("latin-1") + body


@functools.cache
def _tls() -> ssl.SSLContext:
    return ssl.create_default_context()


class HttpCall(asyncio.Protocol):
    """A call whose answer `receiver` is told.

    A protocol, because a stream reader loses what came right before a reset.
    """

    def __init__(self, method: str, receiver: Receiver) -> None:
        self._method, self._receiver = method, receiver
        self._parser = httptools.HttpResponseParser(self)
        self._over: asyncio.Future[Exception | None] = asyncio.get_running_loop().create_future()
        self._headers: list[tuple[str, str]] = []
        self._status = self._bodiless = 0
        self._framed = self._complete = False

    @property
    def begun(self) -> bool:
        """Whether a head has come."""
        return self._status >= 200

    @property
    def whole(self) -> bool:
        """Whether the answer is whole, now that the call is over; one without framing lasts as the connection does."""
        return self._complete or (self.begun and not self._framed)

    async def run(self, url: str, request: bytes) -> None:
        """Send the request to the server of `url`, and return once its answer is over; nothing stays open.

        Raises CallFailed.
        """
        address = urlsplit(url)
        tls = _tls() if address.scheme == "https" else None
        port = address.port or (443 if tls else 80)
        transport: asyncio.Transport | None = None
        try:
            loop = asyncio.get_running_loop()
            transport, _ = await loop.create_connection(lambda: self, str(address.hostname), port, ssl=tls)
            transport.write(request)
            error = await self._over
        except OSError as refused:
            error = refused
        finally:
            if transport is not None:
                transport.abort()
        if error is not None:
            raise CallFailed(f"{type(error).__name__}: {error}") from error

    def stop(self) -> None:
        """Take the call for over."""
        self._end(None)

    def data_received(self, data: bytes) -> None:
        """Part of `asyncio.Protocol`."""
        if self._over.done():
            return
        self._bodiless += len(data)
        try:
            self._parser.feed_data(data)
        except (httptools.HttpParserError, httptools.HttpParserUpgrade) as error:
            self._end(error)
        else:
            if self._complete:
                self._end(None)
            elif self._bodiless > BODILESS_BYTES:
                self._end(Bodiless(f"more than {BODILESS_BYTES:,} bytes without one of a body"))

    def connection_lost(self, exc: Exception | None) -> None:
        """Part of `asyncio.Protocol`."""
        self._end(exc)

    def _end(self, error: Exception | None) -> None:
        if not self._over.done():
            self._over.set_result(error)

    def on_header(self, name: bytes, value: bytes) -> None:
        """Called by the parser."""
        self._headers.append((name.decode("latin-1"), value.decode("latin-1")))

    def on_headers_complete(self) -> None:
        """Called by the parser."""
        self._status = self._parser.get_status_code()
        if not self.begun:
            self._headers.clear()
            return
        names = {name.lower(): value for name, value in self._headers}
        self._framed = "chunked" in names.get("transfer-encoding", "").lower() or "content-length" in names
        self._receiver.head(self._status, tuple(self._headers))
        self._complete = self._status in BODILESS or self._method == "HEAD"

    def on_body(self, body: bytes) -> None:
        """Called by the parser."""
        self._bodiless = 0
        if not self._over.done():
            self._receiver.data(body)

    def on_message_complete(self) -> None:
        """Called by the parser."""
        self._complete = self.begun
