"""The stand-ins that can be judged, or put behind a target: which one, and what is broken in it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class StandIn:
    """The opencode stand-in.

    `flaw` names what is broken in it on purpose; its waits are `pace` times shorter than the real one's. Turns of one
    that is `prompt` begin at once, where the real one takes a moment.
    """

    flaw: str | None = None
    pace: float = 1.0
    prompt: bool = False

    def __str__(self) -> str:
        return f"opencode stand-in{f' with flaw {self.flaw}' if self.flaw else ''}"


@dataclass(frozen=True)
class ModelStandIn:
    """The model server stand-in: its face, and what is broken in it on purpose."""

    face: str
    flaw: str | None = None

    def __str__(self) -> str:
        return f"model stand-in with face {self.face}{f' and flaw {self.flaw}' if self.flaw else ''}"


@dataclass(frozen=True)
class KiloStandIn:
    """The stand-in of the Kilo CLI with the rules of a version; `flaw` names what is broken in it on purpose."""

    version: str
    flaw: str | None = None

    def __str__(self) -> str:
        return f"kilo {self.version} stand-in{f' with flaw {self.flaw}' if self.flaw else ''}"


KiloSource = KiloStandIn | str | tuple[str, ...]
"""A Kilo CLI: the stand-in, a version of the binary, or the command of one."""
