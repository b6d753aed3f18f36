"""The stand-in of a resources server: it seeds a rollout, and verifies it in the session that it opened for it."""

from __future__ import annotations

import itertools
import json

from harness.exchange import Chunk, Request, header
from harness.fakes.http import HttpServer, Wire
from harness.fakes.plan import Plan, play
from harness.journal import Journal

COOKIE = "session"
"""The name of the cookie that carries the session."""

_JSON = (("content-type", "application/json"),)


class ResourcesServer:
    """Answers `/seed_session` with a cookie and `/verify` with a reward of one; recorded as hop `resources`."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._sessions = itertools.count(1)
        self._http = HttpServer(self._handle)

    @property
    def url(self) -> str:
        """The base URL."""
        return self._http.url

    async def start(self) -> None:
        """Listen; from here on `url` is known."""
        await self._http.start()

    async def stop(self) -> None:
        """Stop listening and abort what is open."""
        await self._http.stop()

    def _handle(self, request: Request, wire: Wire) -> None:
        play(self._answer(request), wire, self._journal.record("resources", request))

    def _answer(self, request: Request) -> Plan:
        if request.path.endswith("/seed_session"):
            headers = (*_JSON, ("set-cookie", f"{COOKIE}={next(self._sessions)}; Path=/"))
            return Plan(200, headers, (Chunk(0.0, b"{}"),))
        if request.path.endswith("/verify"):
            asked = request.json()
            answer = {**(asked if isinstance(asked, dict) else {}), "reward": 1.0}
            return Plan(200, _JSON, (Chunk(0.0, json.dumps(answer).encode()),))
        return Plan(404, _JSON, (Chunk(0.0, b'{"detail": "Not Found"}'),))


def session_in(request: Request) -> str | None:
    """The session that a request carries; None when it carries none."""
    pairs = (pair.strip().partition("=") for pair in (header(request.headers, "cookie") or "").split(";"))
    return next((value for name, _, value in pairs if name == COOKIE), None)
