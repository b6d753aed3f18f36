"""Endpoints that start their opencode, and go wrong about it."""

from __future__ import annotations

import asyncio
import socket
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from harness.mutants.mutant import Mutant
from harness.reference.endpoint.config import Config
from harness.reference.endpoint.envelope import Refusal
from harness.reference.endpoint.launched import LaunchedOpencode, Server
from harness.reference.endpoint.opencode import Opencode, OpencodeError, ReadEvents
from harness.reference.endpoint.parts import Parts


class _TrustsThePort(Server):
    """Takes whoever listens on the port for the opencode that it started, and asks without a password."""

    def start(self) -> None:
        self.begin()
        end = time.monotonic() + self.launching.within
        while time.monotonic() < end:
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", self.port)) == 0:
                    break
            time.sleep(0.05)


class _StartsBare(Server):
    """Does not reckon with an opencode that is not there."""

    def start(self) -> None:
        self.begin().stop()
        super().start()


class _SaysNotYet(Server):
    """Asks the client for patience while there is no opencode."""

    async def be_up(self) -> None:
        try:
            await super().be_up()
        except (asyncio.CancelledError, OpencodeError):
            raise Refusal(503, "The agent is starting.", type="server_error", code="unavailable") from None


def _with(server: type[Server]) -> Callable[[Config, ReadEvents], Opencode]:
    class Broken(LaunchedOpencode):
        make_server = server

    def make(config: Config, read_events: ReadEvents) -> Opencode:
        assert config.launching is not None
        return Broken(config, config.launching, read_events)

    return make


def _mutant(name: str, does: str, **changes: Any) -> Mutant[Parts]:
    def apply(parts: Parts) -> Parts:
        return replace(parts, **changes)

    return Mutant(name, does, frozenset({"AE-FAULT-1"}), apply, of="launching-reference")


LAUNCHES: tuple[Mutant[Parts], ...] = (
    _mutant("stranger_trusted", "takes who has the port for its opencode", make_opencode=_with(_TrustsThePort)),
    _mutant("missing_opencode_crashes", "crashes where there is no opencode", make_opencode=_with(_StartsBare)),
    _mutant("not_up_is_503", "answers 503 while its opencode is not up", make_opencode=_with(_SaysNotYet)),
)
