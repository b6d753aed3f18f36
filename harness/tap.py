"""A tap: a recording, fault-injecting loopback proxy for plain HTTP and server-sent events.

It stands where a real part cannot be instrumented. Bodies pass as they come; what the far side does to its
connection (a reset, an early end) the near side sees too, and when the near side leaves, the far side is left.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from urllib.parse import urlsplit

import httptools

from harness.exchange import Headers, Hop, Request
from harness.fakes.http import BODILESS, HttpServer, Wire, encode_chunk, encode_head
from harness.fakes.plan import play
from harness.journal import Journal, Recording
from harness.sse import Parser
from harness.tap_outlet import Outlet
from harness.tap_script import StreamEnd, TapRule, TapScript, is_event_stream

_FRAMING = {"transfer-encoding", "connection", "keep-alive", "expect"}


class Tap:
    """Passes requests on to `upstream` (a base URL) and records them in `journal` as hop `hop`."""

    def __init__(self, hop: Hop, upstream: str, journal: Journal) -> None:
        self._hop = hop
        self._upstream = upstream
        self._journal = journal
        self._http = HttpServer(self._handle)
        self._relays: set[asyncio.Task[None]] = set()
        self.script = TapScript()

    @property
    def url(self) -> str:
        """The base URL that stands in for the upstream's."""
        return self._http.url

    async def start(self) -> None:
        """Listen; from here on `url` is known."""
        await self._http.start()

    async def stop(self) -> None:
        """Stop listening and end what is under way."""
        await self._http.stop()
        for relay in list(self._relays):
            relay.cancel()
        await asyncio.gather(*self._relays, return_exceptions=True)

    async def obey(self, rules: Iterable[TapRule]) -> None:
        """Put these rules in force; one that refuses connections closes the port until others replace it."""
        self.script.replace(rules)
        if self.script.refuses:
            await self._http.refuse()
        else:
            await self._http.accept()

    def _handle(self, request: Request, wire: Wire) -> None:
        recording = self._journal.record(self._hop, request)
        plan = self.script.reply(request)
        if plan is not None:
            play(plan, wire, recording)
            return
        relay = _Relay(request, wire, recording, self.script)
        delay = self.script.delay(request)
        if delay:
            recording.fault("delayed")
        task = asyncio.get_running_loop().create_task(relay.run(self._upstream, delay))
        self._relays.add(task)
        task.add_done_callback(self._relays.discard)

        def leave() -> None:
            recording.close("gone")
            task.cancel()

        wire.gone = leave


class _Relay(asyncio.Protocol):
    """One request on its way and its answer on the way back: the far side's connection and its parser's callbacks.

    A protocol, because a stream reader loses what came right before a reset.
    """

    def __init__(self, request: Request, wire: Wire, recording: Recording, script: TapScript) -> None:
        self._request, self._wire, self._recording, self._script = request, wire, recording, script
        self._parser = httptools.HttpResponseParser(self)
        self._over: asyncio.Future[Exception | None] = asyncio.get_running_loop().create_future()
        self._headers: list[tuple[str, str]] = []
        self._events = Parser() if is_event_stream(request) else None
        self._outlet = Outlet(wire, recording, script.pause)
        self._status = 0
        self._chunked = self._sized = self._begun = False
        self._ending: StreamEnd | None = None
        self.complete = False

    async def run(self, upstream: str, delay: float) -> None:
        """Pass the request on, after `delay` seconds, and the answer back; closes the connection to the far side."""
        await asyncio.sleep(delay)
        address = urlsplit(upstream)
        transport: asyncio.Transport | None = None
        try:
            loop = asyncio.get_running_loop()
            transport, _ = await loop.create_connection(lambda: self, str(address.hostname), address.port or 80)
            transport.write(self._encode_request())
            error = await self._over
        except OSError as refused:
            error = refused
        finally:
            if transport is not None:
                transport.abort()
        await self._outlet.drained()
        if self._ending is not None:
            self._break(self._ending)
        elif error is None:
            self._finish()
        else:
            self._recording.close("cut" if self._begun else "failed", f"{type(error).__name__}: {error}")
            self._wire.reset()

    def data_received(self, data: bytes) -> None:
        """Part of `asyncio.Protocol`."""
        if self._over.done():
            return
        try:
            self._parser.feed_data(data)
        except (httptools.HttpParserError, httptools.HttpParserUpgrade) as error:
            self._end(error)
        else:
            if self.complete:
                self._end(None)

    def connection_lost(self, exc: Exception | None) -> None:
        """Part of `asyncio.Protocol`."""
        self._end(exc)

    def _end(self, error: Exception | None) -> None:
        if not self._over.done():
            self._over.set_result(error)

    def _encode_request(self) -> bytes:
        request = self._request
        headers = [pair for pair in request.headers if pair[0].lower() not in _FRAMING | {"content-length"}]
        if request.body or request.method not in ("GET", "HEAD", "DELETE"):
            headers.append(("content-length", str(len(request.body))))
        lines = [f"{request.method} {request.target} HTTP/1.1", *(f"{k}: {v}" for k, v in headers), "", ""]
        return "\r\n".join(lines).encode("latin-1") + request.body

    def _finish(self) -> None:
        until_close = self._begun and not self._chunked and not self._sized
        if self.complete or until_close:
            self._break("complete")
        else:
            self._recording.close("cut" if self._begun else "failed")
            self._wire.close()

    def _break(self, ending: StreamEnd) -> None:
        """End the answer here, whatever the far side may still say."""
        self._recording.close("complete" if ending == "complete" else "cut")
        if ending == "complete":
            if self._framed:
                self._wire.write(encode_chunk(b""))
            self._wire.done()
        elif ending == "cut":
            self._wire.close()
        else:
            self._wire.reset()

    @property
    def _framed(self) -> bool:
        return not self._sized and not self._bodiless

    @property
    def _bodiless(self) -> bool:
        return self._status in BODILESS or self._request.method == "HEAD"

    def on_header(self, name: bytes, value: bytes) -> None:
        """Called by the parser."""
        self._headers.append((name.decode("latin-1"), value.decode("latin-1")))

    def on_headers_complete(self) -> None:
        """Called by the parser."""
        self._status = self._parser.get_status_code()
        if self._status < 200:
            self._headers.clear()
            return
        names = {name.lower(): value for name, value in self._headers}
        self._chunked = "chunked" in names.get("transfer-encoding", "").lower()
        self._sized = "content-length" in names
        self._begun = True
        headers: Headers = tuple(pair for pair in self._headers if pair[0].lower() not in _FRAMING)
        if self._framed:
            headers += (("transfer-encoding", "chunked"),)
        self._recording.head(self._status, headers)
        self._wire.write(encode_head(self._status, headers))
        self.complete = self._bodiless

    def on_body(self, body: bytes) -> None:
        """Called by the parser."""
        if self._ending is not None:
            return
        data = self._interfere(body, self._events) if self._events is not None and self._framed else body
        self._recording.data(data)
        self._outlet.put(data, self._framed)

    def on_message_complete(self) -> None:
        """Called by the parser."""
        self.complete = self._status >= 200
        if self.complete and self._request.method == "POST" and self._request.path == "/session":
            self._script.created(self._recording.snapshot().json())

    def _interfere(self, body: bytes, events: Parser) -> bytes:
        """What of `body` passes, and what is slipped in; what comes after the stream's end does not pass."""
        passed = []
        for line in body.splitlines(keepends=True):
            passed.append(line)
            for event in events.feed(line):
                interference = self._script.after(event)
                if interference.extra:
                    self._recording.fault("events slipped in")
                    passed.append(interference.extra)
                if interference.ending is not None:
                    self._recording.fault(f"stream ended: {interference.ending}")
                    self._ending = interference.ending
                    self._end(None)
                    return b"".join(passed)
        return b"".join(passed)
