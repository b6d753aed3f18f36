"""What `turnproof up` holds, as a run that is to use it knows it: asked of the control at the address it printed."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from importlib.metadata import version
from typing import Any
from urllib.parse import urlsplit

import httpx

from harness.errors import UsageError

_SECONDS = 10.0
_PASTE = "Give the control address that turnproof up printed, whole."


@dataclass(frozen=True)
class Description:
    """What is held: its `name`, its `part` for the header of a results file, and the pace of its waits.

    `turnproof` is the version that holds it.
    """

    name: str
    part: Mapping[str, str]
    pace: float
    turnproof: str = field(default_factory=lambda: version("turnproof"))

    def to_json(self) -> dict[str, Any]:
        """The description as the control tells it."""
        return asdict(self)


@dataclass(frozen=True)
class HeldParts:
    """Something held whose control is at `address`, which ends in a secret word."""

    address: str
    description: Description

    @property
    def word(self) -> str:
        """The secret word."""
        return self.address.rsplit("/", 1)[1]

    def __str__(self) -> str:
        return f"{self.description.name} at {_shown(self.address)}"


def held_at(address: str) -> HeldParts:
    """What is held at a control address; raises UsageError when that is none, or cannot be used from here."""
    address, shown = address.rstrip("/"), _shown(address)
    asked = time.monotonic()
    try:
        answer = httpx.get(address, timeout=_SECONDS, trust_env=False)
        told = answer.json()
    except httpx.HTTPError as error:
        raise UsageError(f"no control answers at {shown}: {error}", "Is turnproof up still running?") from error
    except ValueError:
        told = None
    if not isinstance(told, dict) or "turnproof" not in told:
        raise UsageError(f"what answers at {shown} is no control of turnproof", _PASTE)
    if told["turnproof"] != version("turnproof"):
        message = f"{shown} is held by turnproof {told['turnproof']}, and this is {version('turnproof')}"
        raise UsageError(message, "Use the same version at both ends.")
    if answer.status_code != 200:
        raise UsageError(f"the secret word in the control address is not that of {shown}", _PASTE)
    if not asked <= told.pop("now") <= time.monotonic():
        raise UsageError(f"{shown} goes by another clock", "Attach on the machine that turnproof up runs on.")
    return HeldParts(address, Description(**told))


def _shown(address: str) -> str:
    """The address without its secret word; raises UsageError when it is not shaped like one."""
    try:
        parts = urlsplit(address)
        port = parts.port
    except ValueError:
        port = None
    if port is None or parts.scheme != "http" or not parts.path.strip("/") or parts.query or parts.username:
        raise UsageError("what --attach was given is not a control address", _PASTE)
    return f"http://{parts.hostname}:{port}"
