"""What stands behind a target: an opencode or a Kilo CLI and a model server, chosen from what is wanted."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

from harness import kilo_agent_target, kilo_behind, kilo_target, model_server, opencode
from harness.behind import ModelAlone
from harness.errors import UsageError
from harness.far_end import OURS, FarEnd, describe_litellm, expect_litellm
from harness.fetch import fetch
from harness.held import HeldParts, held_at
from harness.kilo_behind import KiloPart
from harness.kinds import kind_named
from harness.opencode import MODELS, PROVIDER, REAL, STAND_IN, VERSION, Binary
from harness.stand_ins import StandIn
from harness.target import Target, mentions

PACE = 8.0
"""How many times shorter than real ones the waits of the stand-in behind an endpoint are.

So a wait before a retry comes to its end within a short deadline.
"""


@dataclass(frozen=True)
class Chain:
    """An opencode with a far end that is not just our model server."""

    opencode: opencode.Part
    far: FarEnd

    def __str__(self) -> str:
        return f"{self.opencode}, {self.far}"


Part = opencode.Part | Chain | ModelAlone | KiloPart | HeldParts
"""What is put behind a target: an opencode or a Kilo CLI and a model server, a model server alone, or what is held."""

Say = Callable[[str, str], None]
"""Told each step that succeeded, with a detail."""


def part_behind(target: Target, wanted: str, say: Say, attach: str | None = None) -> Part | None:
    """What to put behind a target, or the opencode to judge; None for a target that is not told where to find any.

    `wanted` is the opencode behind an endpoint: `stand-in`, `real` or a version; a real one is fetched when the cache
    lacks it. `attach` is the control address of what `turnproof up` holds behind a target given by URL.

    Raises UsageError when that cannot be used.
    """
    if attach is not None:
        return _held_behind(target, wanted, attach)
    if wanted != STAND_IN and not takes_opencode(target):
        message = f"no opencode is put behind {target.name}, so --opencode {wanted} would change nothing"
        raise UsageError(message, "Leave it out. An opencode to judge is a target: --target opencode@VERSION.")
    if target.kind == model_server.KIND:
        return model_server.part_of(target)
    if target.kind == kilo_agent_target.KIND:
        return kilo_agent_target.part_of(target, say)
    if target.kilo is not None:
        return kilo_target.PART
    if target.opencode is not None:
        return _opencode_to_judge(target.opencode, say)
    if kind_named(target.kind).behind == "model" or not mentions(target, "opencode_url"):
        return _model_alone(target, wanted, say) if mentions(target, "model_url") else None
    return opencode_behind(wanted, say)


def takes_opencode(target: Target) -> bool:
    """Tell whether it can be chosen which opencode is behind the target, or found by it on its PATH."""
    behind = kind_named(target.kind).behind == "opencode" and target.opencode is None
    return behind and (mentions(target, "opencode_url") or mentions(target, "shims"))


def opencode_behind(wanted: str, say: Say) -> opencode.Part:
    """The opencode behind an endpoint; `wanted` as for `part_behind`."""
    if wanted == STAND_IN:
        return StandIn(pace=PACE, prompt=True)
    return real_opencode(VERSION if wanted == REAL else wanted, say)


def _model_alone(target: Target, wanted: str, say: Say) -> ModelAlone:
    models = frozenset(model for _, model in models_of(target))
    if wanted == STAND_IN or not mentions(target, "shims"):
        return ModelAlone(models)
    return ModelAlone(models, real_opencode(VERSION if wanted == REAL else wanted, say).path)


def pace_of(target: Target, part: Part | None) -> float:
    """How many times shorter than real ones the waits of the opencode behind the target, or within it, are."""
    if isinstance(part, HeldParts):
        return part.description.pace
    if isinstance(part, Chain):
        return pace_of(target, part.opencode)
    if isinstance(part, StandIn):
        return part.pace
    return PACE if isinstance(part, ModelAlone) and part.opencode is None and mentions(target, "shims") else 1.0


def _opencode_to_judge(source: StandIn | str | Path, say: Say) -> opencode.Part:
    if isinstance(source, StandIn):
        return source
    return Binary(None, source) if isinstance(source, Path) else real_opencode(source, say)


def _held_behind(target: Target, wanted: str, attach: str) -> HeldParts:
    if target.kind != "agent-endpoint":
        raise UsageError(f"--attach is for agent endpoints, not for a target of kind {target.kind}", "Leave it out.")
    if target.url is None:
        message = "--attach is for a target given by URL; what is behind one that turnproof starts is started too"
        raise UsageError(message, "Leave --attach out, or name the target by its URL or in a file with url.")
    if wanted != STAND_IN:
        raise UsageError("with --attach, the opencode is the one that is held", "Give --opencode to turnproof up.")
    return held_at(attach)


def real_opencode(version: str, say: Say) -> Binary:
    """The real opencode of a version, fetched when the cache lacks it."""
    return Binary(version, fetch(f"opencode@{version}", say=lambda text: say("opencode is fetched", text)))


def models_of(target: Target) -> list[tuple[str, str]]:
    """Every (provider, model) that opencode must serve: those of the target's agents, each once."""
    if target.opencode is not None:
        return [(PROVIDER, model) for model in MODELS]
    pairs = ((agent.provider, agent.model) for agent in target.agents)
    return list(dict.fromkeys((p, m) for p, m in pairs if p is not None and m is not None))


def chained(part: Part | None, far: FarEnd) -> Part | None:
    """`part`, with the far end that is wanted; raises UsageError where it cannot have that one."""
    if far == OURS:
        return part
    if not isinstance(part, opencode.Part):
        message = "no proxy or provider can be put behind this target: turnproof does not start its opencode"
        raise UsageError(message, "Leave the proxy out with --direct, and --model-url with what belongs to it.")
    if far.proxied:
        expect_litellm()
    return Chain(part, far)


def describe(part: Part) -> tuple[dict[str, str], ...]:
    """What is behind the target, for the header of a results file; see `harness.opencode.describe`."""
    if isinstance(part, KiloPart):
        return (kilo_behind.describe(part),)
    if isinstance(part, HeldParts):
        return (dict(part.description.part),)
    if isinstance(part, ModelAlone):
        started = (opencode.describe(Binary(None, part.opencode)),) if part.opencode else ()
        return ({"name": "model server stand-in", "version": version("turnproof")}, *started)
    if isinstance(part, Chain):
        provider = part.far.provider
        proxy = (describe_litellm(),) if part.far.proxied else ()
        asked = ({"name": "provider", "version": provider.model or "unknown", "url": provider.url},) if provider else ()
        return (opencode.describe(part.opencode), *proxy, *asked)
    return (opencode.describe(part),)
