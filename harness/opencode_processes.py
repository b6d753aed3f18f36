"""opencode servers of a check's own: started beside the one that is judged, asked, and ended with a signal."""

from __future__ import annotations

import base64
import contextlib
import json
import os
import signal
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

from harness import opencode
from harness.actors import Pending, live_part
from harness.client import Client
from harness.engine import Engine
from harness.errors import TargetNotReady
from harness.exchange import Exchange, Request, request_to_json
from harness.fakes.opencode.settings import merged
from harness.fakes.opencode.shim import write_shim
from harness.journal import Journal
from harness.live import PendingRequest
from harness.redaction import Redactor
from harness.stand_ins import StandIn
from harness.supervised import Supervised
from harness.world import World

_CALL_SECONDS = 10.0
_ANSWER_SECONDS = 30.0
_END_SECONDS = 10.0


@dataclass(frozen=True)
class _Server:
    process: Supervised
    client: Client
    authorization: str


class Processes:
    """Servers like the judged one, each under a name and in a folder of its own, that are there until `close`."""

    def __init__(
        self,
        engine: Engine,
        journal: Journal,
        part: opencode.Part,
        settings: Mapping[str, Any],
        work: Path,
        redactor: Redactor,
        password: str,
    ) -> None:
        self._engine, self._journal, self._settings = engine, journal, settings
        self._work, self._redactor, self._password = work, redactor, password
        if isinstance(part, StandIn):
            self._binary = write_shim(work / "opencode-shim", part.pace, flaw=part.flaw)
        else:
            self._binary = part.path
        self._servers: dict[str, _Server] = {}

    def start(self, name: str, username: str, settings: Mapping[str, Any]) -> None:
        """Start a server with `settings` besides the usual, or one that was ended again; raises TargetNotReady when it
        does not come up."""
        folder = self._work / f"opencode-{name}"
        process, url = opencode.start(self._binary, folder, merged(self._settings, settings), self._password, username)
        word = base64.b64encode(f"{username}:{self._password}".encode()).decode()
        if username != opencode.USERNAME:
            self._redactor.add(f"key of {username}", word)
        self._servers[name] = _Server(process, Client(url), f"Basic {word}")

    def comes_up(self, name: str, arguments: Sequence[str]) -> bool:
        """Whether a server comes up with these arguments and a configuration that holds comments and a last comma."""
        text = f"// of the check's own\n{json.dumps(self._settings)[:-1]}, /* no more */ }}"
        folder = self._work / f"opencode-{name}"
        try:
            process, _ = opencode.start(self._binary, folder, text, self._password, arguments=arguments)
        except TargetNotReady:
            return False
        process.stop()
        return True

    def begin(self, name: str, request: Request, label: str, known: bool) -> Pending:
        """Send a request to a server, as a user that it knows or as the usual one."""
        server = self._servers[name]
        usual = base64.b64encode(f"{opencode.USERNAME}:{self._password}".encode()).decode()
        header = ("authorization", server.authorization if known else f"Basic {usual}")
        request = Request(request.method, request.target, (*request.headers, header), request.body)
        recording = self._journal.record("client", request, label)
        future = self._engine.submit(server.client.send(request, recording, _ANSWER_SECONDS))
        return PendingRequest(self._journal, recording, future)

    def terminate(self, name: str) -> dict[str, Any]:
        """Send a server SIGTERM: its exit status, None while it goes on, and the seconds that its end took."""
        server, began = self._servers[name], time.monotonic()
        with contextlib.suppress(ProcessLookupError):  # it has ended by itself, which its status tells
            os.kill(server.process.pid, signal.SIGTERM)
        status = server.process.wait(_END_SECONDS)
        seconds = time.monotonic() - began
        server.process.stop()
        return {"status": status, "seconds": seconds}

    def close(self) -> None:
        """End them all."""
        for server in self._servers.values():
            server.process.stop()
        self._servers.clear()


class OwnServers:
    """The actor: servers of a check's own. Raises HarnessError where a replay reaches for one."""

    def __init__(self, world: World, processes: Processes | None) -> None:
        self._world, self._processes = world, processes

    def start(
        self,
        label: str,
        name: str,
        username: str = opencode.USERNAME,
        settings: Mapping[str, Any] = MappingProxyType({}),
    ) -> None:
        """Start a server, or again one that was ended; its user is `username`, and it is configured like the judged one
        and with `settings` besides."""
        asked = {"start": name, "username": username} | ({"settings": settings} if settings else {})
        self._world.act("server", label, asked, lambda: self._live().start(name, username, settings))

    def comes_up(self, label: str, name: str, *arguments: str) -> bool:
        """Whether a server comes up with these arguments and a configuration that holds comments and a last comma."""
        asked = {"come up": name, "arguments": list(arguments)}
        return bool(self._world.act("server", label, asked, lambda: self._live().comes_up(name, arguments)))

    def send(self, label: str, name: str, request: Request, known: bool = True) -> Exchange:
        """Ask a server, as the user that it was started for (or, not `known`, as the usual one); the whole answer."""
        asked = {"send": name, "request": request_to_json(request), "known": known}

        def perform() -> dict[str, int]:
            return {"exchange": self._live().begin(name, request, label, known).result()}

        return self._world.exchange(self._world.act("server", label, asked, perform)["exchange"])

    def terminate(self, label: str, name: str) -> tuple[int | None, float]:
        """Send a server SIGTERM: its exit status, None while it goes on, and the seconds that its end took."""
        seen = self._world.act("server", label, {"terminate": name}, lambda: self._live().terminate(name))
        return seen["status"], seen["seconds"]

    def _live(self) -> Processes:
        return live_part(self._processes)
