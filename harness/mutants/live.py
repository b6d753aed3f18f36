"""Which of the broken endpoints and agents a live round trip catches too."""

from __future__ import annotations

from dataclasses import replace

from harness.mutants import endpoint, kilo_agent
from harness.mutants.mutant import Mutant
from harness.reference.endpoint.parts import Parts
from harness.reference.kilo.parts import Parts as KiloParts

_ENDPOINTS = {
    "no_done": {"LE-STREAM-1"},
    "all_steps_are_reply": {"LE-TOOL-1"},
    "consent_ignored": {"LE-REFUSAL-1"},
    "refused_turn_runs": {"LE-REFUSAL-1"},
    "tells_why": {"LE-FAULT-1"},
}
_AGENTS = {"prefix_dropped": {"LK-TURN-1", "LK-STREAM-1", "LK-TOOL-1", "LK-REFUSAL-1", "LK-FAULT-1"}}

ENDPOINTS: tuple[Mutant[Parts], ...] = (
    *endpoint.STUBS,
    *(
        replace(mutant, caught_by=frozenset(_ENDPOINTS[mutant.name]))
        for mutant in endpoint.MUTANTS
        if mutant.name in _ENDPOINTS
    ),
)
AGENTS: tuple[Mutant[KiloParts], ...] = tuple(
    replace(mutant, caught_by=frozenset(_AGENTS[mutant.name]))
    for mutant in kilo_agent.MUTANTS
    if mutant.name in _AGENTS
)
