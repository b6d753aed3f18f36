"""The kinds of target: which suite judges each, and what is judged when no target is named."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from harness.errors import UsageError


@dataclass(frozen=True)
class Kind:
    """A kind of target: its suite, the built-in target that is judged by default, and what may be behind it.

    `live` is the suite of its live round trips, None where there is none.
    """

    name: str
    suite: str
    default: str
    behind: Literal["opencode", "model", "kilo"] = "opencode"
    live: str | None = None

    @property
    def suites(self) -> tuple[str, ...]:
        """The suites that judge such a target."""
        return (self.suite, self.live) if self.live else (self.suite,)


KINDS = (
    Kind("agent-endpoint", "agent_endpoint", "reference", live="live_endpoint"),
    Kind("opencode-server", "opencode_server", "stand-in"),
    Kind("model-server", "model_server", "model-stand-in", behind="model"),
    Kind("kilo-cli", "kilo_cli", "kilo-stand-in", behind="model"),
    Kind("kilo-agent", "kilo_agent", "reference-kilo", behind="kilo", live="live_kilo_agent"),
)


def kind_named(name: str) -> Kind:
    """The kind of target of that name, which a target has that passed its schema."""
    return next(kind for kind in KINDS if kind.name == name)


def kind_for(suite: str) -> Kind:
    """The kind of target that a suite judges; raises UsageError when there is no such suite."""
    for kind in KINDS:
        if suite in kind.suites:
            return kind
    known = ", ".join(name for kind in KINDS for name in kind.suites)
    raise UsageError(f"no suite is called {suite!r}", f"the suites are: {known}")
