"""Where what a start came to differs from one version of the Kilo CLI to another."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from harness.kilo_budget import rule_of
from harness.kilo_outcome import outline, shape
from harness.kilo_recorded import file_name
from harness.kilo_starts import LIMITS, budget

Outcome = Mapping[str, Any]

_SIZES = frozenset({"characters", "system", "tools", "max_tokens"})
_LIMITS = {file_name(budget(*limit).name): dict(zip(("output", "context"), limit, strict=True)) for limit in LIMITS}


def lines(name: str, outcome: Outcome) -> list[str]:
    """An outcome as lines that can be compared, each once: how it ended, what came, and of what shape it was."""
    status = outcome["status"]
    said = [f"exit status {status}" if status is not None else "it never ends"]
    said += [f"standard error says: {text}" for text in outcome["complaints"]]
    said += [f"a line that is no event: {text}" for text in outcome["stray lines"]]
    said += [f"knows the option {option}" for option in outcome["options"]]
    said += [f"asks for the host {host}" for host in outcome["hosts"]]
    said += [f"event {outline(event)}" for event in outcome["events"]]
    said += [f"{event['type']} event holds {leaf}" for event in outcome["events"] for leaf in _leaves(shape(event))]
    said += [line for call in outcome["calls"] for line in _call(call, _LIMITS.get(name))]
    said.append(f"{len(outcome['events'])} events, {len(outcome['calls'])} model calls")
    return list(dict.fromkeys(said))


def differences(name: str, one: Outcome, other: Outcome) -> list[str]:
    """The lines that only one of two outcomes of a scenario has: `- ` the first, `+ ` the second."""
    before, after = lines(name, one), lines(name, other)
    return [f"- {line}" for line in before if line not in after] + [f"+ {line}" for line in after if line not in before]


def _leaves(value: Any, path: str = "") -> Iterator[str]:
    if isinstance(value, dict) and value:
        for key, inner in value.items():
            yield from _leaves(inner, f"{path}.{key}" if path else key)
    else:
        yield f"{path}: {value if isinstance(value, str) else _json(value)}"


def _call(call: Mapping[str, Any], limit: Mapping[str, int | None] | None) -> Iterator[str]:
    """A model call; how long its texts are is left out, and with it the number that a rule makes of that."""
    kind = "turn's request" if call["tools"] else "request without tools"
    rule = rule_of(call, limit or {})
    number = "what the window leaves" if rule == "window" else call.get("max_tokens")
    yield f"{kind} has max_tokens: {number}"
    for key, value in call.items():
        if key not in _SIZES:
            yield f"{kind} has {key}: {_json(value)}"
    for tool in call["tools"]:
        yield f"{kind} offers the tool {tool}"


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True)
