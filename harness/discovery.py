"""The agents of a target that is given by nothing but its URL."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import httpx

from harness import keys
from harness.bounded import send
from harness.errors import TargetNotReady
from harness.redaction import Redactor
from harness.target import Agent, Target

_SECONDS, _SHOWN = 30.0, 300
_HINT = "is this the base URL of an OpenAI-compatible endpoint?"


def discovered(target: Target) -> Target:
    """The target with the agents that its `/v1/models` lists for its first key, when its description names none.

    Raises UsageError when the key's environment variable is not set, TargetNotReady when nothing can be listed.
    """
    if target.agents or target.url is None:
        return target
    key = target.keys[0]
    listed = _list_models(target.url, dict(keys.obtain(target, {"url": target.url}))[key.name])
    return replace(target, agents=tuple(Agent(id_) for id_ in listed), keys=(replace(key, agents=tuple(listed)),))


def _list_models(url: str, secret: str) -> list[str]:
    step = "its agents are listed"
    try:
        headers = {"authorization": f"Bearer {secret}"}
        response = send("GET", f"{url}/v1/models", headers, None, _SECONDS)
    except httpx.HTTPError as error:
        raise TargetNotReady(step, f"{url}/v1/models does not answer: {error!r}", _HINT) from error
    came = f"{response.status_code}: {Redactor({'key': secret}).redact(response.text)[:_SHOWN] or 'empty'}"
    if response.status_code in (401, 403):
        raise TargetNotReady(step, f"{url}/v1/models refuses the key: it answered {came}", "check the key")
    try:
        body: Any = response.json()
        ids = [str(entry["id"]) for entry in body["data"]]
    except (ValueError, KeyError, TypeError) as error:
        message = f"{url}/v1/models does not answer with an OpenAI list, but with {came}"
        raise TargetNotReady(step, message, _HINT) from error
    if not ids:
        raise TargetNotReady(step, f"{url}/v1/models lists no agent for this key", "use a key with an agent")
    return ids
