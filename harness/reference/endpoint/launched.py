"""An opencode that the endpoint starts itself: supervised, with a password made for it, started again when it ended."""

from __future__ import annotations

import asyncio
import json
import os
import re
import secrets
import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from harness.listener import free_port
from harness.reference.endpoint.agents import split_model
from harness.reference.endpoint.config import Config, Launching
from harness.reference.endpoint.opencode import Opencode, OpencodeError, ReadEvents
from harness.supervised import StartFailed, Supervised

_READY = re.compile(r"opencode server listening on http")


class Server:
    """The process. Only a server that said itself that it listens, and that runs, is taken for ours."""

    def __init__(self, launching: Launching, settings: Mapping[str, Any], port: int, password: str) -> None:
        self.launching, self.port, self.password = launching, port, password
        self._settings = settings
        self._process: Supervised | None = None
        self._starting: asyncio.Future[None] | None = None

    async def be_up(self) -> None:
        """Start it unless it runs; raises OpencodeError when it does not come up.

        A start outlasts the turn that it was begun for, which may be given up: the next one waits for the same.
        """
        if self._starting is None or (self._starting.done() and not self._runs()):
            self._starting = asyncio.ensure_future(asyncio.to_thread(self.start))
        await asyncio.shield(self._starting)

    def stop(self) -> None:
        """End it, if it was started, were it still coming up."""
        if self._process is not None:
            self._process.stop()

    def start(self) -> None:
        """Start it and wait until it says that it listens; raises OpencodeError when it does not come up."""
        try:
            process = self.begin()
        except StartFailed as error:
            raise OpencodeError(f"opencode cannot be started: {error.reason}") from error
        if process.wait_for_line(_READY, time.monotonic() + self.launching.within) is None:
            process.stop()
            raise OpencodeError("opencode did not come up")

    def begin(self) -> Supervised:
        """Start the process, which is ended by `stop` from now on; raises StartFailed."""
        env = {**os.environ, "OPENCODE_SERVER_PASSWORD": self.password}
        command = command_of(self.port)
        self._process = Supervised.start(command, env=env, cwd=self._prepare(), name="opencode", ready_line=_READY)
        return self._process

    def _prepare(self) -> Path:
        """The folder that it runs in, with its configuration."""
        folder = Path(self.launching.folder)
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "opencode.json").write_text(json.dumps(self._settings), encoding="utf-8")
        return folder

    def _runs(self) -> bool:
        return self._process is not None and self._process.poll() is None


class LaunchedOpencode(Opencode):
    """The opencode server of this endpoint's own; it is there before a session is made."""

    make_server: type[Server] = Server

    def __init__(self, config: Config, launching: Launching, read_events: ReadEvents) -> None:
        self._port, self._password = free_port(), secrets.token_urlsafe(24)
        url = f"http://127.0.0.1:{self._port}"
        super().__init__(replace(config, opencode_url=url, opencode_password=self._password), read_events)
        self.server = self.make_server(launching, settings(config, launching.model_url), self._port, self._password)

    async def create_session(self, options: Mapping[str, Any]) -> str:
        """The id of a new session, on a server that is up."""
        await self.server.be_up()
        return await super().create_session(options)

    async def close(self) -> None:
        """End the server too."""
        await super().close()
        await asyncio.to_thread(self.server.stop)


def command_of(port: int) -> list[str]:
    """The command that starts it."""
    return ["opencode", "serve", "--port", str(port), "--hostname", "127.0.0.1"]


def opencode_of(config: Config, read_events: ReadEvents) -> Opencode:
    """The opencode that the configuration names, or tells to start."""
    if config.launching is None:
        return Opencode(config, read_events)
    return LaunchedOpencode(config, config.launching, read_events)


def settings(config: Config, model_url: str) -> dict[str, Any]:
    """The configuration of an opencode that has the agents' models, at the model server `model_url`."""
    providers: dict[str, Any] = {}
    for model in map(split_model, filter(None, config.agents.values())):
        options = {"baseURL": model_url, "apiKey": "none"}
        entry = {"npm": "@ai-sdk/openai-compatible", "name": model.provider, "options": options, "models": {}}
        providers.setdefault(model.provider, entry)["models"][model.id] = {}
    return {"autoupdate": False, "share": "disabled", "enabled_providers": sorted(providers), "provider": providers}
