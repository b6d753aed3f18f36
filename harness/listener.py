"""Whose process answers on a loopback port: readiness counts only when it is an answer of ours."""

from __future__ import annotations

import contextlib
import socket
from collections.abc import Iterable
from pathlib import Path

_LISTEN = "0A"


def free_port() -> int:
    """A port on which nothing listened a moment ago, for programs that cannot bind to port 0 and say which it was."""
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        port: int = sock.getsockname()[1]
        return port


def listens(pids: Iterable[int], port: int) -> bool | None:
    """Whether one of the processes `pids` listens on `port`; None where the system does not tell (not Linux)."""
    try:
        inodes = _listening(port)
    except OSError:
        return None
    return any(_holds(pid, inodes) for pid in pids)


def _listening(port: int) -> set[str]:
    """The inodes of the sockets that listen on `port`, from the kernel's tables for IPv4 and IPv6."""
    inodes = set()
    for table in ("tcp", "tcp6"):
        for line in Path("/proc/net", table).read_text().splitlines()[1:]:
            fields = line.split()
            if fields[3] == _LISTEN and int(fields[1].rsplit(":", 1)[1], 16) == port:
                inodes.add(fields[9])
    return inodes


def _holds(pid: int, inodes: set[str]) -> bool:
    with contextlib.suppress(OSError):
        for descriptor in Path(f"/proc/{pid}/fd").iterdir():
            with contextlib.suppress(OSError):
                if str(descriptor.readlink()).removeprefix("socket:[").removesuffix("]") in inodes:
                    return True
    return False
