"""The stand-ins' front end: HTTP/1.1 on a bare `asyncio.Protocol`, so that faults below HTTP can be made.

A handler gets a parsed request and a `Wire`, the answering side of it. A connection answers its requests one
after another; a handler is done with one when it calls `Wire.done`, `Wire.close` or `Wire.reset`.
"""

from __future__ import annotations

import asyncio
import socket
import struct
from collections import deque
from collections.abc import Callable
from http import HTTPStatus
from typing import cast

import httptools

from harness.exchange import Headers, Request

Handler = Callable[[Request, "Wire"], None]

BODILESS = frozenset({204, 304})
"""Statuses whose answers have no body and no framing (RFC 9110, 6.4.1)."""

REQUEST_BYTES = 64 * 1024 * 1024
"""The longest request, from its first byte to its last, that is taken; a longer one is refused with 413."""

_LINGER_ZERO = struct.pack("ii", 1, 0)


def encode_head(status: int, headers: Headers) -> bytes:
    """A status line and headers as they go over the wire."""
    try:
        reason = HTTPStatus(status).phrase
    except ValueError:
        reason = ""
    lines = [f"HTTP/1.1 {status} {reason}", *(f"{name}: {value}" for name, value in headers), "", ""]
    return "\r\n".join(lines).encode("latin-1", "replace")


def encode_chunk(data: bytes) -> bytes:
    """A piece of a body in chunked framing; the empty piece ends the body."""
    return b"%x\r\n%b\r\n" % (len(data), data)


class Wire:
    """The answering side of one request. `gone` is called once when the asking side leaves before the end.

    What is written in one round of the event loop goes out in one packet: a system call each costs more than all else.
    """

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._unsent: list[bytes] = []
        self.gone: Callable[[], None] = lambda: None

    def write(self, data: bytes) -> None:
        """Send raw bytes; nobody is there to take them once the connection is closing."""
        if not self._unsent:
            asyncio.get_running_loop().call_soon(self._flush)
        self._unsent.append(data)

    def _flush(self) -> None:
        if self._unsent and not self._connection.transport.is_closing():
            self._connection.transport.write(b"".join(self._unsent))
        self._unsent.clear()

    def done(self) -> None:
        """The answer is whole; the connection goes on to its next request."""
        self._flush()
        self._connection.next_request()

    def close(self) -> None:
        """End the connection after what was written, as a server that dies politely does."""
        self._flush()
        self._connection.answering = None
        self._connection.transport.close()

    def reset(self) -> None:
        """Abort the connection: the asking side sees a reset."""
        self._flush()
        self._connection.answering = None
        sock = self._connection.transport.get_extra_info("socket")
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _LINGER_ZERO)
        self._connection.transport.abort()


class Connection(asyncio.Protocol):
    """One client connection: parses requests and queues them for the handler."""

    transport: asyncio.Transport

    def __init__(self, handler: Handler, connections: set[Connection]) -> None:
        self._handler = handler
        self._connections = connections
        self._queue: deque[Request] = deque()
        self._parser = httptools.HttpRequestParser(self)
        self._last_words: bytes | None = None
        self._received = 0
        self._dispatching = False
        self.answering: Wire | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Part of `asyncio.Protocol`."""
        self.transport = cast("asyncio.Transport", transport)
        self._connections.add(self)

    def connection_lost(self, exc: Exception | None) -> None:
        """Part of `asyncio.Protocol`."""
        self._connections.discard(self)
        self._queue.clear()
        if self.answering is not None:
            wire, self.answering = self.answering, None
            wire.gone()

    def data_received(self, data: bytes) -> None:
        """Part of `asyncio.Protocol`."""
        if self._last_words is not None:
            return
        self._received += len(data)
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserUpgrade:
            self._last_words = _refusal(501)
        except httptools.HttpParserError:
            self._last_words = _refusal(400)
        if self._received > REQUEST_BYTES:
            self._last_words = _refusal(413)
        if self.answering is None:
            self.next_request()

    def on_message_begin(self) -> None:
        """Called by the parser."""
        self._target = b""
        self._headers: list[tuple[str, str]] = []
        self._body: list[bytes] = []

    def on_url(self, url: bytes) -> None:
        """Called by the parser."""
        self._target += url

    def on_header(self, name: bytes, value: bytes) -> None:
        """Called by the parser."""
        self._headers.append((name.decode("latin-1"), value.decode("latin-1")))

    def on_headers_complete(self) -> None:
        """Called by the parser."""
        if any(name.lower() == "expect" for name, _ in self._headers):
            self.transport.write(b"HTTP/1.1 100 Continue\r\n\r\n")

    def on_body(self, body: bytes) -> None:
        """Called by the parser."""
        self._body.append(body)

    def on_message_complete(self) -> None:
        """Called by the parser."""
        if self._parser.should_upgrade():
            return
        method = self._parser.get_method().decode("latin-1")
        target = self._target.decode("latin-1")
        self._received = 0
        self._queue.append(Request(method, target, tuple(self._headers), b"".join(self._body)))
        if not self._parser.should_keep_alive():
            self._last_words = b""

    def next_request(self) -> None:
        """Hand queued requests to the handler, one after another, up to the first that is not answered at once."""
        self.answering = None
        if self._dispatching:
            return
        self._dispatching = True
        try:
            while self._queue and self.answering is None and not self.transport.is_closing():
                self.answering = wire = Wire(self)
                self._handler(self._queue.popleft(), wire)
        finally:
            self._dispatching = False
        if self.answering is None and self._last_words is not None and not self.transport.is_closing():
            self.transport.write(self._last_words)
            self.transport.close()


def _refusal(status: int) -> bytes:
    return encode_head(status, (("content-length", "0"), ("connection", "close")))


class HttpServer:
    """Serves a handler, on a loopback port that the system picks unless it is told another."""

    def __init__(self, handler: Handler) -> None:
        self._handler = handler
        self._connections: set[Connection] = set()
        self._server: asyncio.Server | None = None
        self._place: socket.socket | None = None
        self.port = 0

    @property
    def url(self) -> str:
        """The base URL, without a trailing slash."""
        return f"http://127.0.0.1:{self.port}"

    async def start(self, host: str = "127.0.0.1", port: int = 0) -> None:
        """Listen, after a stop on the same port; from here on `port` is known. Raises OSError when it is taken."""
        loop = asyncio.get_running_loop()
        self._server = await loop.create_server(
            lambda: Connection(self._handler, self._connections), host, port or self.port
        )
        self.port = self._server.sockets[0].getsockname()[1]

    async def stop(self) -> None:
        """Stop listening and abort every connection; ends when all are gone."""
        self._leave_place()
        if self._server is not None:
            server, self._server = self._server, None
            server.close()
            await asyncio.sleep(0)  # a connection that was just accepted becomes known in the loop's next round
            while self._connections:
                for connection in list(self._connections):
                    connection.transport.abort()
                await asyncio.sleep(0)
            await server.wait_closed()

    async def refuse(self) -> None:
        """Stop, and keep the port: connections to it are refused until `accept`."""
        if self._server is not None:
            await self.stop()
            self._place = socket.socket()
            self._place.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            self._place.bind(("127.0.0.1", self.port))

    async def accept(self) -> None:
        """Listen again on the same port, if connections were refused."""
        if self._place is not None:
            self._leave_place()
            await self.start()

    def _leave_place(self) -> None:
        if self._place is not None:
            self._place.close()
            self._place = None
