"""The targets that come with turnproof.

`reference`, `launching-reference`, which starts its opencode itself, and their mutants as `mutant:NAME`; of opencode
servers `stand-in`, its flaws as `opencode-flaw:NAME`, and the real ones as `opencode@VERSION`; of model servers
`model-stand-in[:FACE]`, and its flaws as `model-flaw:NAME`; of Kilo CLIs `kilo-stand-in[:VERSION]`, with the rules of a
version, its flaws as `kilo-flaw:NAME`, the real ones as `kilo@VERSION`, and any other, by the path of its executable,
as `kilo:PATH`; of agents that wrap the Kilo CLI `reference-kilo`, over a real CLI `reference-kilo@VERSION`, and its
mutants as `kilo-mutant:NAME`.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from harness import kilo_agent_target, kilo_target, model_server
from harness.kinds import KINDS, kind_for, kind_named
from harness.mutants.opencode import find as flaw_named
from harness.opencode import STAND_IN
from harness.stand_ins import StandIn
from harness.target import Ready, Target
from harness.target_file import find, load
from harness.target_keys import OPENCODE_KEYS

REFERENCE, LAUNCHING = "reference", "launching-reference"
_MUTANT, _FLAW, _REAL = "mutant:", "opencode-flaw:", "opencode@"

FAST = 10.0
"""How many times shorter the waits of a stand-in with a flaw are."""

_SHORT_DEADLINE = 2.5
_FILES = {
    REFERENCE: Path(__file__).parent / "fixtures" / "targets" / "reference-endpoint.toml",
    LAUNCHING: Path(__file__).parent / "fixtures" / "targets" / "launching-endpoint.toml",
}


def find_target(text: str, opencode: str = STAND_IN, kind: str = "agent-endpoint") -> Target:
    """The target that `text` names: one of the above, a target file or a URL; `opencode` is what is put behind it.

    `kind` is that of the target at a URL.

    Raises UsageError when there is no such thing, or when it cannot be used.
    """
    if text in _FILES:
        return _reference(text, opencode)
    if text.startswith(_MUTANT):
        return _mutant(text.removeprefix(_MUTANT), opencode)
    if text == STAND_IN:
        return _opencode_server(text, StandIn())
    if text.startswith(_FLAW):
        return _opencode_server(text, StandIn(flaw_named(text.removeprefix(_FLAW)).name, FAST))
    if text.startswith(_REAL):
        return _opencode_server(text, text.removeprefix(_REAL))
    found = model_server.built_in(text) or kilo_target.built_in(text) or kilo_agent_target.built_in(text)
    return found or find(text, kind)


def find_judged(text: str | None, suite: str | None, opencode: str = STAND_IN) -> tuple[Target, str]:
    """The target that `text` names, or else the one that a suite judges by default; and the suite, or else its own.

    Raises UsageError when there is no such target or suite.
    """
    kind = kind_for(suite or KINDS[0].suite)
    found = find_target(kind.default if text is None else text, opencode, kind.name)
    return found, suite or kind_named(found.kind).suite


def _opencode_server(text: str, opencode: StandIn | str) -> Target:
    name = str(opencode) if isinstance(opencode, StandIn) else f"opencode {opencode}"
    return Target(
        kind="opencode-server",
        name=name,
        source=text,
        folder=Path.cwd(),
        url=None,
        start=None,
        ready=Ready(),
        agents=(),
        keys=OPENCODE_KEYS,
        opencode=opencode,
    )


def _reference(name: str, opencode: str) -> Target:
    """The reference. Over the stand-in, whose turns take no time, it has a shorter deadline, to be waited for."""
    reference = load(_FILES[name])
    return replace(reference, deadline=_SHORT_DEADLINE) if opencode == STAND_IN else reference


def _mutant(name: str, opencode: str) -> Target:
    from harness.mutants.endpoint import find as mutant_named  # and with it the whole reference

    reference = _reference(mutant_named(name).of, opencode)
    assert reference.start is not None
    command: list[str] = []
    for part in reference.start.command:
        command += ["harness.mutants.endpoint", name] if part == "harness.reference.endpoint" else [part]
    return replace(reference, name=f"mutant {name}", start=replace(reference.start, command=tuple(command)))
