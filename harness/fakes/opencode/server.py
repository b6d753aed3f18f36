"""The opencode stand-in on its socket."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from harness.exchange import Request
from harness.fakes.http import HttpServer, Wire, encode_chunk, encode_head
from harness.fakes.opencode.access import gives, token_of
from harness.fakes.opencode.answers import Answer, unauthorized
from harness.fakes.opencode.behaviour import Behaviour
from harness.fakes.opencode.core import Core
from harness.fakes.opencode.routes import EVENT_PATHS, Routes, directory_of
from harness.fakes.opencode.settings import settings_of
from harness.fakes.opencode.store import Store

_STREAM = (
    ("content-type", "text/event-stream"),
    ("cache-control", "no-cache, no-transform"),
    ("x-accel-buffering", "no"),
    ("transfer-encoding", "chunked"),
)


class OpencodeServer:
    """Serves a core with the configuration `settings` for `folder`; `password` None leaves the door open."""

    def __init__(
        self,
        settings: Mapping[str, Any],
        folder: Path,
        password: str | None,
        username: str = "opencode",
        behaviour: Behaviour | None = None,
        store: Store | None = None,
    ) -> None:
        self._settings, self._folder, self._store = settings, folder, store
        self._behaviour = behaviour or Behaviour()
        self._token = None if password is None else token_of(username, password)
        self._http = HttpServer(self._handle)

    @property
    def url(self) -> str:
        """The base URL."""
        return self._http.url

    @property
    def port(self) -> int:
        """The port."""
        return self._http.port

    async def start(self, host: str = "127.0.0.1", port: int = 0) -> None:
        """Listen; from here on `url` is known."""
        self._core = Core(
            settings_of(self._behaviour.obeyed(self._settings)), str(self._folder), self._behaviour, self._store
        )
        self._routes = Routes(self._core)
        await self._http.start(host, port)

    async def stop(self) -> None:
        """Stop listening, leave every connection and end every turn."""
        await self._http.stop()
        await self._core.close()

    def _handle(self, sent: Request, wire: Wire) -> None:
        request = self._behaviour.takes(sent)
        if not self._is_let_in(request):
            self._send(request, unauthorized(), wire)
        elif request.method == "GET" and request.path in EVENT_PATHS:
            self._stream(request, wire)
        else:
            self._core.begin(self._answer(request, wire))

    def _is_let_in(self, request: Request) -> bool:
        return self._token is None or gives(request, self._token) or self._behaviour.open_to_all(request)

    async def _answer(self, request: Request, wire: Wire) -> None:
        gone = False

        def leave() -> None:
            nonlocal gone
            gone = True
            if self._behaviour.leaving_aborts:
                self._core.begin(self._core.abort(request.path.split("/")[2]))

        wire.gone = leave
        answer = await self._routes.answer(request)
        if late := self._behaviour.late(request):
            await asyncio.sleep(late)
        if not gone:
            self._send(request, answer, wire)

    def _send(self, request: Request, answer: Answer, wire: Wire) -> None:
        answer = self._behaviour.answer(request, answer)
        if request.method == "HEAD" and not self._behaviour.fills_head:
            answer = replace(answer, body=b"")
        wire.write(answer.encoded())
        wire.done()

    def _stream(self, request: Request, wire: Wire) -> None:
        loop, bus = asyncio.get_running_loop(), self._core.bus
        timer: asyncio.TimerHandle | None = None

        def tell(event: dict[str, Any]) -> None:
            wire.write(encode_chunk(self._behaviour.encode(event)))

        def beat() -> None:
            nonlocal timer
            bus.tell(tell, "server.heartbeat")
            timer = loop.call_later(self._behaviour.heartbeat, beat)

        def leave() -> None:
            bus.leave(tell)
            if timer is not None:
                timer.cancel()

        wire.gone = leave
        everything = request.path == "/global/event"
        wire.write(encode_head(200, _STREAM))
        bus.subscribe(tell, None if everything else directory_of(request, str(self._folder)))
        timer = loop.call_later(self._behaviour.heartbeat, beat)


def with_pace(behaviour: Behaviour, pace: float) -> Behaviour:
    """The behaviour with waits that are `pace` times shorter."""
    if pace == 1.0:
        return behaviour
    slow = behaviour.retry_after
    return replace(
        behaviour,
        heartbeat=behaviour.heartbeat / pace,
        retry_after=lambda attempt, headers: slow(attempt, headers) / pace,
    )
