"""A tap: a recording, fault-injecting loopback proxy for plain HTTP and server-sent events.

It stands where a real part cannot be instrumented. Bodies pass as they come; what the far side does to its
connection (a reset, an early end) the near side sees too, and when the near side leaves, the far side is left.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from dataclasses import replace
from urllib.parse import urlsplit

from harness.exchange import Headers, Hop, Request
from harness.fakes.http import BODILESS, HttpServer, Wire, encode_chunk, encode_head
from harness.fakes.plan import play
from harness.http_call import CallFailed, HttpCall, encode_request, overdue
from harness.journal import Journal, Recording
from harness.sse import Parser
from harness.tap_outlet import Outlet
from harness.tap_script import StreamEnd, TapRule, TapScript, is_event_stream

_FRAMING = {"transfer-encoding", "connection", "keep-alive", "expect"}


class Tap:
    """Passes requests on to `upstream` (a base URL) and records them in `journal` as hop `hop`.

    To a `foreign` one, a server on the network, they go under its own name, and ask for answers that can be read. An
    answer that is not over `late` seconds after its `deadline` in seconds is left; without one, none is.
    """

    def __init__(
        self,
        hop: Hop,
        upstream: str,
        journal: Journal,
        foreign: bool = False,
        deadline: float | None = None,
        late: float = 0.0,
    ) -> None:
        self._hop = hop
        self._upstream = upstream
        self._foreign = foreign
        self._deadline, self._late = deadline, late
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
        relay = _Relay(self._addressed(request), wire, recording, self.script)
        delay = self.script.delay(request)
        if delay:
            recording.fault("delayed")
        task = asyncio.get_running_loop().create_task(self._relay(relay, delay, wire, recording))
        self._relays.add(task)
        task.add_done_callback(self._relays.discard)

        def leave() -> None:
            recording.close("gone")
            task.cancel()

        wire.gone = leave

    async def _relay(self, relay: _Relay, delay: float, wire: Wire, recording: Recording) -> None:
        if self._deadline is None:
            await relay.run(self._upstream, delay)
            return
        try:
            async with asyncio.timeout(self._deadline + self._late):
                await relay.run(self._upstream, delay)
        except TimeoutError:
            recording.close("gone", overdue(self._deadline, self._late))
            wire.reset()

    def _addressed(self, request: Request) -> Request:
        if not self._foreign:
            return request
        kept = (pair for pair in request.headers if pair[0].lower() not in ("host", "accept-encoding"))
        return replace(request, headers=(("host", urlsplit(self._upstream).netloc), *kept))


class _Relay:
    """One request on its way and its answer on the way back."""

    def __init__(self, request: Request, wire: Wire, recording: Recording, script: TapScript) -> None:
        self._request, self._wire, self._recording, self._script = request, wire, recording, script
        self._call = HttpCall(request.method, self)
        self._events = Parser() if is_event_stream(request) else None
        self._outlet = Outlet(wire, recording, script.pause)
        self._framed = False
        self._ending: StreamEnd | None = None

    async def run(self, upstream: str, delay: float) -> None:
        """Pass the request on, after `delay` seconds, and the answer back; closes the connection to the far side."""
        await asyncio.sleep(delay)
        failure: CallFailed | None = None
        try:
            await self._call.run(upstream, self._encode_request())
        except CallFailed as failed:
            failure = failed
        await self._outlet.drained()
        if self._ending is not None:
            self._break(self._ending)
        elif failure is None:
            self._finish()
        else:
            self._recording.close("cut" if self._call.begun else "failed", str(failure))
            self._wire.reset()

    def _encode_request(self) -> bytes:
        request = self._request
        headers = [pair for pair in request.headers if pair[0].lower() not in _FRAMING | {"content-length"}]
        if request.body or request.method not in ("GET", "HEAD", "DELETE"):
            headers.append(("content-length", str(len(request.body))))
        return encode_request(request.method, request.target, headers, request.body)

    def _finish(self) -> None:
        if self._call.whole:
            self._created()
            self._break("complete")
        else:
            self._recording.close("cut" if self._call.begun else "failed")
            self._wire.close()

    def _created(self) -> None:
        if self._request.method == "POST" and self._request.path == "/session":
            self._script.created(self._recording.snapshot().json())

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

    def head(self, status: int, headers: Headers) -> None:
        """Part of `Receiver`."""
        sized = any(name.lower() == "content-length" for name, _ in headers)
        self._framed = not (sized or status in BODILESS or self._request.method == "HEAD")
        headers = tuple(pair for pair in headers if pair[0].lower() not in _FRAMING)
        if self._framed:
            headers += (("transfer-encoding", "chunked"),)
        self._recording.head(status, headers)
        self._wire.write(encode_head(status, headers))

    def data(self, data: bytes) -> None:
        """Part of `Receiver`."""
        if self._events is not None and self._framed:
            data = self._interfere(data, self._events)
        self._recording.data(data)
        self._outlet.put(data, self._framed)

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
                    self._call.stop()
                    return b"".join(passed)
        return b"".join(passed)
