"""The faces of the fake model server by name, and what it answers with one of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from harness.errors import UsageError
from harness.exchange import Request, header
from harness.fakes.model.core import refusal_plan, respond
from harness.fakes.model.face import PLAIN, Face, over_without_output
from harness.fakes.model.gym import buffered
from harness.fakes.model.responses import RESPONSES
from harness.fakes.model.script import Answer
from harness.fakes.model.wording import (
    LITELLM_UNKNOWN_KEY,
    litellm,
    litellm_foreign_model,
    litellm_over_window,
    litellm_unknown_model,
    vllm_profile,
)
from harness.fakes.plan import Plan

WINDOW = 2048
"""Tokens of the window of a face that has one, unless it is told another."""

NAMES = ("plain", "openai", "gym", "proxy", "vllm-VERSION")

_VLLM = "vllm-"


def face_named(name: str, window: int | None = WINDOW) -> Face:
    """The face of that name with such a window.

    `plain` counts nothing and so has no window. `openai` does everything: it keeps to a window and limits, takes
    rollouts, gives token ids and reasoning. `gym` is a Gym model server over a vLLM, `proxy` a LiteLLM proxy,
    `vllm-VERSION` vLLM of that version. Raises UsageError for another name.
    """
    if name == PLAIN.name:
        return PLAIN
    counting = Face(name, counts=True, window=window, reasoning_fields=("reasoning_content",))
    if name == "openai":
        return replace(counting, rollouts=True, token_ids=True, knows_keys=True)
    if name == "gym":
        vllm = _vllm(counting, "0.31")
        gym = replace(vllm, reasoning_fields=("reasoning_content",), rollouts=True, buffers=True, token_ids=True)
        return replace(gym, lists_models=False, any_model=True)
    if name == "proxy":
        words = replace(counting, envelope=litellm, over_window=litellm_over_window)
        models = replace(words, unknown_model=litellm_unknown_model, foreign_model=litellm_foreign_model)
        return replace(models, knows_keys=True, unknown_key=LITELLM_UNKNOWN_KEY)
    if name.startswith(_VLLM):
        return _vllm(counting, name.removeprefix(_VLLM))
    raise UsageError(f"the model server has no face {name!r}", f"its faces are: {', '.join(NAMES)}")


def _vllm(face: Face, version: str) -> Face:
    profile = vllm_profile(version)
    words = replace(face, over_window=profile.over_window, envelope=profile.envelope)
    ways = replace(words, reasoning_fields=profile.reasoning_fields)
    return replace(ways, over=over_without_output) if profile.clamps else ways


def answered(face: Face, request: Request, models: frozenset[str], choose: Callable[[Any], Answer]) -> Plan:
    """The plan for a request, without the prefix of a rollout, to a server with this face."""
    return face.says(request, _planned(face, request, models, choose))


def _planned(face: Face, request: Request, models: frozenset[str], choose: Callable[[Any], Answer]) -> Plan:
    served = models
    if face.keys is not None:
        key = (header(request.headers, "authorization") or "").removeprefix("Bearer ")
        if key not in face.keys:
            return refusal_plan(face.unknown_key, face)
        served = models & face.keys[key]
        body = request.json()
        if isinstance(body, dict) and body.get("model") in models - served:
            return refusal_plan(face.foreign_model(body["model"]), face)
    if face.buffers or (face.rollouts and request.path == RESPONSES):
        return buffered(request, lambda asked: respond(asked, served, choose, face))
    return respond(request, served, choose, face)
