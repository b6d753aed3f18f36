"""Opencode servers that are broken in what they make of a child that does not come to its end."""

from __future__ import annotations

from harness.fakes.opencode.behaviour import Behaviour, Event
from harness.mutants.mutant import Mutant, changing
from harness.mutants.opencode_changes import Told, on, part_of, tools_told, with_properties


def _failure_completed(event: Event) -> Told:
    part = part_of(event)
    if not str(part.get("state", {}).get("error", "")).startswith("Subagent failed"):
        return (event,)
    return (with_properties(event, part={**part, "state": {**part["state"], "status": "completed", "output": ""}}),)


def _without_cancelled(text: str) -> str:
    return "" if text == "Task cancelled" else text


CHILDREN: tuple[Mutant[Behaviour], ...] = (
    changing(
        "child_failure_hidden",
        "tells a failed child as completed",
        "OS-CHILD-2",
        event=on("message.part.updated", _failure_completed),
    ),
    changing(
        "child_abort_untold",
        "tells the model of no abort of a child",
        "OS-CHILD-3",
        "OS-ABORT-8",
        model_call=tools_told(_without_cancelled),
    ),
    changing("child_left", "aborts the parent alone", "OS-ABORT-7", "OS-ABORT-8", aborts_children=False),
    changing("child_hurried", "gives a child no time to end", "OS-ABORT-8", settling=0.0),
)
