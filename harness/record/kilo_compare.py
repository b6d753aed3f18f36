"""Where what a start came to differs from one version of the Kilo CLI to another."""

from __future__ import annotations

import difflib
import json
from collections.abc import Mapping
from typing import Any

from harness.kilo_budget import rule_of
from harness.kilo_outcome import outline, shape
from harness.kilo_recorded import file_name
from harness.kilo_starts import LIMITS, budget

Outcome = Mapping[str, Any]

_SIZES = frozenset({"characters", "system", "tools", "max_tokens"})
_LIMITS = {file_name(budget(*limit).name): dict(zip(("output", "context"), limit, strict=True)) for limit in LIMITS}


def lines(name: str, outcome: Outcome) -> list[str]:
    """An outcome as lines that can be compared: how it ended, each event with its shape, each model call."""
    status = outcome["status"]
    said = [f"exit status {status}" if status is not None else "it never ends"]
    said += [f"says on standard error: {text}" for text in outcome["complaints"]]
    said += [f"a line that is no event: {text}" for text in outcome["stray lines"]]
    said += [f"knows the option {option}" for option in outcome["options"]]
    said += [f"asks for {host}" for host in outcome["hosts"]]
    for event in outcome["events"]:
        said += [f"event {outline(event)}", f"  {_json(shape(event.get('part', event.get('error'))))}"]
    return said + [_call(call, _LIMITS.get(name)) for call in outcome["calls"]]


def differences(name: str, one: Outcome, other: Outcome) -> list[str]:
    """The lines that only one of two outcomes of a scenario has: `- ` the first, `+ ` the second."""
    compared = difflib.ndiff(lines(name, one), lines(name, other))
    return [line.rstrip() for line in compared if line[:2] in ("- ", "+ ")]


def _call(call: Mapping[str, Any], limit: Mapping[str, int | None] | None) -> str:
    """A model call; how long its texts are is left out, and with it the number that a rule makes of that."""
    told = {key: value for key, value in call.items() if key not in _SIZES}
    rule = rule_of(call, limit or {})
    told["max_tokens"] = "what the window leaves" if rule == "window" else call.get("max_tokens")
    return f"model call {'with tools' if call['tools'] else 'without tools'} {_json(told)}"


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True)
