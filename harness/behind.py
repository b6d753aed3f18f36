"""What may stand behind a target, and the simplest of it: a model server alone."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from harness.engine import Engine
from harness.exchange import Hop
from harness.fakes.model.captures import Captures
from harness.fakes.model.face import PLAIN
from harness.fakes.model.faces import face_named
from harness.fakes.model.script import Rule
from harness.fakes.model.server import ModelServer
from harness.journal import Journal
from harness.mutants.model import find
from harness.redaction import Redactor
from harness.tap_script import TapRule

CAPTURES = "captures"
"""The folder, in that of the run, in which a model server of ours keeps captured calls."""

_CALL_SECONDS = 10.0
_QUIET_SECONDS = 3.0


class Behind(Protocol):
    """The running parts behind a target: `harness.stack` with an opencode, `ModelBehind` without."""

    def placeholders(self) -> Mapping[str, str]:
        """What a target is told of them, by the names of a target file's placeholders."""

    def conceal(self, redactor: Redactor) -> None:
        """Make their secrets known to `redactor`."""

    def canaries(self) -> Mapping[str, str]:
        """Names and values of what no answer of the target may hold: their passwords and addresses."""

    def observes(self, hop: Hop) -> bool:
        """Whether a stand-in or a tap of ours is on a hop."""

    def use_model_rules(self, rules: tuple[Rule, ...]) -> None:
        """What the model server says from now on."""

    def open_gate(self, name: str) -> None:
        """Let the model's answers go on that wait at the gate of that name."""

    def use_tap_rules(self, rules: tuple[TapRule, ...]) -> None:
        """What the tap in front of opencode does from now on."""

    def catch_up(self) -> None:
        """Return once the run's journal holds all that they have carried so far."""

    def settle(self) -> None:
        """Bring the parts to rest between two checks."""


@dataclass(frozen=True)
class ModelAlone:
    """The model server stand-in, serving `models`, with nothing between it and the target.

    `opencode` is a real one, for a target that starts one itself; None where it is to find the stand-in. `face` names
    how the model server shows itself (see `harness.fakes.model.faces`), `flaw` what is broken in it on purpose.
    """

    models: frozenset[str]
    opencode: Path | None = None
    face: str = PLAIN.name
    window: int | None = None
    flaw: str | None = None

    def __str__(self) -> str:
        return "model server"


@dataclass(frozen=True)
class ModelBehind:
    """Part of a run whose targets call the model server themselves; see `Behind`."""

    engine: Engine
    journal: Journal
    model: ModelServer

    @property
    def model_url(self) -> str:
        """The base URL, with `/v1`, of the model server."""
        return f"{self.model.url}/v1"

    def placeholders(self) -> Mapping[str, str]:
        """Part of `Behind`."""
        return {"model_url": self.model_url}

    def conceal(self, redactor: Redactor) -> None:
        """Part of `Behind`: it has no secrets."""

    def canaries(self) -> Mapping[str, str]:
        """Part of `Behind`."""
        return {"the model server's address": self.model.url.split("/")[2]}

    def observes(self, hop: Hop) -> bool:
        """Part of `Behind`."""
        return hop in ("client", "model")

    def use_model_rules(self, rules: tuple[Rule, ...]) -> None:
        """Part of `Behind`."""
        self.model.script.replace(rules)

    def open_gate(self, name: str) -> None:
        """Part of `Behind`."""
        self.engine.call(opened(self.model, name), _CALL_SECONDS)

    def use_tap_rules(self, rules: tuple[TapRule, ...]) -> None:
        """Part of `Behind`: no tap is there, and no check finds one by `observes`."""
        raise AssertionError("no opencode is behind this target")

    def catch_up(self) -> None:
        """Part of `Behind`: it records as it goes."""

    def settle(self) -> None:
        """Part of `Behind`: script cleared, model calls over."""
        self.model.script.replace(())
        self.journal.wait("model", lambda seen: all(call.end != "open" for call in seen), _QUIET_SECONDS)


@contextlib.contextmanager
def model_alone(engine: Engine, journal: Journal, part: ModelAlone, work: Path | None = None) -> Iterator[ModelBehind]:
    """The model server that `part` names, for as long as the context lasts.

    Captured calls are kept under `work`, when that is given.
    """
    face = face_named(part.face, part.window)
    face = find(part.flaw).apply(face) if part.flaw else face
    model = ModelServer(part.models, journal, face, Captures(work / CAPTURES) if work else None)
    engine.call(model.start(), _CALL_SECONDS)
    try:
        yield ModelBehind(engine, journal, model)
    finally:
        engine.call(model.stop(), _CALL_SECONDS)


async def opened(model: ModelServer, gate: str) -> None:
    """Open a gate of the model server, on the event loop's thread."""
    model.script.gate(gate).open()
