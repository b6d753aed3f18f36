"""An opencode server that plays prepared events, for one endpoint at a time."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable
from typing import Any

from harness.exchange import Request
from harness.fakes.http import HttpServer, Wire, encode_chunk, encode_head
from harness.sse import encode
from tests.reference.endpoint.events import SESSION, Event, answer, turn

Reply = tuple[int, bytes]

CONNECTED: Event = {"id": "evt_0", "type": "server.connected", "properties": {}}


class OpencodeStub:
    """Answers every prompt with the events in `script`, then leaves the stream open unless `ends` is set.

    `replies` answer requests whose `METHOD path` they match in the stub's stead.
    """

    def __init__(self) -> None:
        self.http = HttpServer(self._handle)
        self.clear()

    def clear(self) -> None:
        """Forget what was asked, and answer every turn with `hello` again."""
        self.script: list[Event] = turn(answer("hello"))
        self.raw = b""
        self.ends = False
        self.replies: list[tuple[str, Reply]] = []
        self.requests: list[Request] = []
        self.prompted = threading.Event()
        self.aborted = threading.Event()
        self._streams: list[Wire] = []

    def asked(self, pattern: str) -> list[Request]:
        """The requests whose `METHOD path` matches."""
        return [request for request in self.requests if re.fullmatch(pattern, f"{request.method} {request.path}")]

    def prompts(self) -> list[Any]:
        """The bodies of all prompts."""
        return [request.json() for request in self.asked("POST .*/prompt_async")]

    def _handle(self, request: Request, wire: Wire) -> None:
        self.requests.append(request)
        line = f"{request.method} {request.path}"
        for pattern, (status, body) in self.replies:
            if re.fullmatch(pattern, line):
                _reply(wire, status, body)
                return
        routes: list[tuple[str, Callable[[Wire], None]]] = [
            ("GET /event", self._subscribe),
            ("POST /session", self._create),
            ("POST /session/[^/]+/prompt_async", self._prompt),
            ("POST /session/[^/]+/abort", self._abort),
            ("GET /session/[^/]+/children", lambda wire: _reply(wire, 200, b'[{"id":"ses_child"}]')),
            ("POST /(permission|question)/.*", lambda wire: _reply(wire, 200, b"true")),
        ]
        next(route for pattern, route in routes if re.fullmatch(pattern, line))(wire)

    def _subscribe(self, wire: Wire) -> None:
        headers = (("content-type", "text/event-stream"), ("transfer-encoding", "chunked"))
        wire.write(encode_head(200, headers) + encode_chunk(encode(CONNECTED)))
        self._streams.append(wire)

    def _create(self, wire: Wire) -> None:
        _reply(wire, 200, json.dumps({"id": SESSION}).encode())

    def _prompt(self, wire: Wire) -> None:
        _reply(wire, 204, b"")
        stream = self._streams[-1]
        stream.write(encode_chunk(b"".join(map(encode, self.script)) + self.raw or b":\n\n"))
        if self.ends:
            stream.close()
        self.prompted.set()

    def _abort(self, wire: Wire) -> None:
        _reply(wire, 200, b"true")
        self.aborted.set()


def _reply(wire: Wire, status: int, body: bytes) -> None:
    length = () if status == 204 else (("content-length", str(len(body))),)
    wire.write(encode_head(status, (("content-type", "application/json"), *length)) + body)
    wire.done()
