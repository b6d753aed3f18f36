"""Which other hosts a program asks for: a proxy that notes their names and lets nobody through."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Mapping
from urllib.parse import urlsplit

_REFUSAL = b"HTTP/1.1 502 Bad Gateway\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"

REGISTRY = "package-registry"
"""What a host is called that packages come from: which one that is depends on how the machine is set up."""


def _named(host: str) -> str:
    return REGISTRY if host.startswith("registry.") else host


class HostWatch:
    """The proxy of one program. Lives on one event loop; `hosts` may be read from any thread."""

    def __init__(self) -> None:
        self._server: asyncio.Server | None = None
        self._asked: set[str] = set()

    async def start(self) -> None:
        """Listen; from here on `environment` is known."""
        self._server = await asyncio.start_server(self._note, "127.0.0.1", 0)

    async def stop(self) -> None:
        """Stop listening, and leave who is still there."""
        if self._server is not None:
            self._server.close()

    @property
    def environment(self) -> Mapping[str, str]:
        """The variables that send everything but loopback here."""
        assert self._server is not None, "the watch has not been started"
        proxy = f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"
        names = {"HTTP_PROXY": proxy, "HTTPS_PROXY": proxy, "NO_PROXY": "127.0.0.1,localhost"}
        return {**names, **{name.lower(): value for name, value in names.items()}}

    @property
    def hosts(self) -> tuple[str, ...]:
        """The hosts that have been asked for, each once, in alphabetical order."""
        return tuple(sorted(self._asked))

    async def _note(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError, ValueError, asyncio.LimitOverrunError):
            words = (await reader.readline()).decode("latin-1").split()
            if len(words) > 1:
                address = words[1] if "://" in words[1] else f"//{words[1]}"
                self._asked.add(_named(urlsplit(address).hostname or words[1]))
            writer.write(_REFUSAL)
            await writer.drain()
        writer.close()
