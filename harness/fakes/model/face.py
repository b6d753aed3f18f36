"""How the fake model server shows itself: the ways of a real server, as data."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from harness.exchange import Request
from harness.fakes.model.limits import MAX_TOKENS, Size
from harness.fakes.model.wording import (
    OPENAI_UNKNOWN_KEY,
    Envelope,
    OverWindow,
    Refusal,
    nested,
    openai_over_window,
    openai_unknown_model,
)
from harness.fakes.plan import Plan


def over(size: Size) -> bool:
    """Whether a request does not fit the window."""
    return size.total > size.window


def over_without_output(size: Size) -> bool:
    """Whether a request does not fit the window of a server that cuts limits to what is left of it."""
    return size.prompt > size.window or (size.limit or 0) > size.window


def _as_planned(_request: Request, plan: Plan) -> Plan:
    return plan


def _as_it_came(rollout: str | None) -> str | None:
    return rollout


def _whole(kept: dict[str, Any]) -> dict[str, Any]:
    return kept


@dataclass(frozen=True)
class Face:
    """A model server's ways. The plain one says what its script holds, and looks neither at sizes nor at keys.

    `counts` makes it count tokens, obey the limits of the names in `limits` and keep to `window`, when it has one:
    what is `over` it is refused, and a limit that is not is cut to what is left. `reasoning_fields` are those in
    which reasoning is given; without any, it is the script that says. `keys` are the models that each key may use,
    for a face that `knows_keys`; with None any key will do. `rollouts` takes calls under `/ng-rollout/<id>/` and
    captures them. `buffers` waits for the end of an answer before it sends it, and turns refusals into what a Gym
    model server makes of them. `token_ids` puts ids and log-probabilities of tokens into answers that are not
    streamed.

    `says`, `files` and `keeps` change nothing; flaws put something else there: what becomes of an answer, under whose
    id a call is captured, and what of it.
    """

    name: str = "plain"
    counts: bool = False
    limits: tuple[str, ...] = MAX_TOKENS
    window: int | None = None
    over: Callable[[Size], bool] = over
    over_window: OverWindow = openai_over_window
    reasoning_fields: tuple[str, ...] = ()
    envelope: Envelope = nested
    unknown_model: Callable[[object], Refusal] = openai_unknown_model
    foreign_model: Callable[[object], Refusal] = openai_unknown_model
    unknown_key: Refusal = OPENAI_UNKNOWN_KEY
    knows_keys: bool = False
    keys: Mapping[str, frozenset[str]] | None = None
    lists_models: bool = True
    any_model: bool = False
    rollouts: bool = False
    buffers: bool = False
    token_ids: bool = False
    says: Callable[[Request, Plan], Plan] = _as_planned
    files: Callable[[str | None], str | None] = _as_it_came
    keeps: Callable[[dict[str, Any]], dict[str, Any]] = _whole


PLAIN = Face()
