"""What in a target file belongs to one kind of target alone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from harness.errors import UsageError
from harness.fakes.model.faces import face_named
from harness.target_schema import Problem


@dataclass(frozen=True)
class Own:
    """The keys, capabilities and policies of a kind that no other kind has."""

    keys: frozenset[str]
    capabilities: frozenset[str]
    policies: frozenset[str]


OWN: Mapping[str, Own] = {
    "agent-endpoint": Own(
        frozenset({"mint"}),
        frozenset({"mint", "rate_cap", "incremental", "launches"}),
        frozenset({"non_boolean_stream", "empty_user_content", "history"}),
    ),
    "kilo-agent": Own(frozenset({"kilo"}), frozenset(), frozenset()),
    "model-server": Own(
        frozenset({"window", "reasoning_field", "captures", "upstream"}),
        frozenset({"reasoning", "capture", "token_ids", "virtual_keys", "models"}),
        frozenset({"over_window"}),
    ),
}


def kind_problems(data: Mapping[str, Any]) -> Iterator[Problem]:
    """What belongs to another kind of target than the file's, and an `upstream` that there is not."""
    for kind, own in OWN.items():
        if kind == data.get("kind"):
            continue
        for key in own.keys & data.keys():
            yield Problem((key,), _only(kind))
        policies = data.get("policies")
        for key in own.policies & (policies.keys() if isinstance(policies, dict) else set()):
            yield Problem(("policies", key), _only(kind))
        capabilities = data.get("capabilities")
        for index, name in enumerate(capabilities if isinstance(capabilities, list) else ()):
            if name in own.capabilities:
                yield Problem(("capabilities", index), _only(kind))
    yield from _upstream(data.get("upstream"))


def _only(kind: str) -> str:
    return f'is for kind = "{kind}" only: remove it'


def _upstream(name: object) -> Iterator[Problem]:
    if not isinstance(name, str):
        return
    try:
        face_named(name)
    except UsageError as error:
        yield Problem(("upstream",), f"{error.message}; {error.hint}")
