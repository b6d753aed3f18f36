"""Whether the target is still there after a check: what has died is not judged any further."""

from __future__ import annotations

import contextlib
import socket
from collections.abc import Sequence
from urllib.parse import urlsplit

from harness.errors import TargetNotReady
from harness.exchange import Exchange
from harness.launch import Launch
from harness.readiness import is_over, told_end

_CONNECT_SECONDS = 5.0
# A connection is closed a little before it is known how its process ended, and sometimes before the port is.
_MOMENT = 0.5
_HINT = "see its output, and make this check alone with -k"
_STEP = "it stays up"


def lost(launch: Launch, exchanges: Sequence[Exchange]) -> TargetNotReady | None:
    """Why no further check can be made after one that had these exchanges; None while the target is there.

    Agents that are started for each check are started again when they have ended, so that they are always there.
    """
    process, url = launch.process, launch.live.url
    if process is None and launch.target.start is not None:
        return None
    failed = any(exchange.hop == "client" and exchange.end == "failed" for exchange in exchanges)
    if process is not None and (status := process.wait(_MOMENT if failed else 0.0)) is not None and is_over(process):
        return TargetNotReady(_STEP, told_end(status), _HINT, launch.log())
    if failed and url and not _accepts(url):
        return TargetNotReady(_STEP, f"nothing takes connections at {url} any more", _HINT, launch.log())
    return None


def _accepts(url: str) -> bool:
    parts = urlsplit(url)
    port = parts.port or (443 if parts.scheme == "https" else 80)
    with contextlib.suppress(OSError), socket.create_connection((parts.hostname or "", port), _CONNECT_SECONDS):
        return True
    return False
