"""`turnproof up`: holds a target with what is behind it, or that alone, and says where everything is."""

from __future__ import annotations

import contextlib
import json
import os
import shlex
from collections.abc import Iterator
from typing import Any

from harness import kilo_behind, model_server
from harness.behind import Behind
from harness.control import controlled
from harness.errors import UsageError
from harness.held import Description
from harness.kilo_agents import LiveAgents, Wanted
from harness.launch import Ground, Launch, ground, launched_on
from harness.opencode import USERNAME
from harness.parts import Part, Say, describe, models_of, opencode_behind, pace_of, part_behind
from harness.target import Target
from harness.target_file import KEY_VARIABLE
from harness.variables import expect_set


@contextlib.contextmanager
def holding(target: Target, wanted: str, alone: bool, say: Say) -> Iterator[str]:
    """What to print of a target and what is behind it, held for as long as the context lasts.

    With `alone`, and for a target given by URL, only what is behind it is held. `wanted` is the opencode. Secrets are
    shown in clear: they were made for this, or are the user's own.

    Raises UsageError when nothing can be put behind the target, and TargetNotReady when something does not come up.
    """
    if alone or target.url is not None:
        _require_models(target)
        part = opencode_behind(wanted, say)
        with ground(target, part, say) as base, _controlled(base, target, part) as control:
            assert base.behind is not None
            yield _parts(target, base.behind, control)
        return
    expect_set(target, os.environ)
    given = part_behind(target, wanted, say)
    with ground(target, given, say) as base, launched_on(base, target, say) as launch:
        if target.kind not in ("agent-endpoint", "opencode-server"):
            yield of_other_kind(launch)
        elif given is None or base.behind is None:
            yield _endpoint(launch, [], [])
        elif target.opencode is not None:
            yield "\n".join([*_places(base.behind), "", _curl_to_parts(target, base.behind)])
        else:
            with _controlled(base, target, given) as control:
                yield _endpoint(launch, [*_places(base.behind), f"control       {control}"], _judge_it(launch, control))


def of_other_kind(launch: Launch) -> str:
    """What to print of a model server, an agent that wraps the Kilo CLI, or a Kilo CLI, which nothing controls."""
    if isinstance(launch.live, LiveAgents):
        return _agent(launch.live)
    places = [] if launch.behind is None or launch.target.model is not None else _places(launch.behind)
    return _endpoint(launch, places, []) if launch.target.kind == model_server.KIND else "\n".join(places)


def _agent(live: LiveAgents) -> str:
    """An agent that wraps the Kilo CLI, told nothing but a model, a model server and a resources server."""
    servers = {"model_server": "{model_url}", "resources_server": "{resources_url}"}
    url = live.start(Wanted({"model": kilo_behind.MODELS[0], **servers}))
    lines = [
        f"agent             {url}",
        f"model server      {live.behind.model_url}",
        f"resources server  {live.behind.resources.url}",
    ]
    return "\n".join([*lines, "", _curl(f"{url}/v1/responses", {"input": "Hello"})])


def _controlled(base: Ground, target: Target, part: Part) -> contextlib.AbstractContextManager[str]:
    assert base.behind is not None
    description = Description(str(part), describe(part)[0], pace_of(target, part))
    return controlled(base.engine, base.behind, base.journal, description)


def _require_models(target: Target) -> None:
    if target.kind not in ("agent-endpoint", "opencode-server"):
        raise UsageError(f"nothing is held alone for a target of kind {target.kind}", "Name an agent endpoint.")
    if target.opencode is not None:
        raise UsageError("an opencode that is judged itself has none behind it", "Name an opencode with --opencode.")
    if not models_of(target):
        hint = "Name a target file whose agents have a model, or leave the target out for the models of the reference."
        raise UsageError(f"{target.source} does not tell which models are to be served", hint)


def _parts(target: Target, behind: Behind, control: str) -> str:
    models = ", ".join(f"{provider}/{model}" for provider, model in models_of(target))
    judged = "URL" if target.url is None else target.source
    return "\n".join(
        [
            *_places(behind),
            f"models        {models}",
            f"control       {control}",
            "",
            _curl_to_parts(target, behind),
            "",
            shlex.join(["turnproof", "run", "--target", judged, "--attach", control]),
        ]
    )


def _endpoint(launch: Launch, places: list[str], judging: list[str]) -> str:
    key = next(key for key in launch.target.facts.keys if key.state == "valid")
    agents = (agent.id for agent in launch.target.facts.agents if agent.id in key.agents and not agent.no_model)
    secret = launch.live.keys[key.name]
    body = {"model": next(agents, "MODEL"), "messages": [{"role": "user", "content": "Hello"}]}
    return "\n".join(
        [
            f"endpoint      {launch.live.url}/v1",
            *places,
            f"key           {secret}",
            "",
            _curl(f"{launch.live.url}/v1/chat/completions", body, "-H", f"authorization: Bearer {secret}"),
            *judging,
        ]
    )


def _judge_it(launch: Launch, control: str) -> list[str]:
    """The command that judges a running endpoint by what is behind it."""
    secret = next(launch.live.keys[key.name] for key in launch.target.facts.keys if key.state == "valid")
    command = ["turnproof", "run", "--target", launch.live.url, "--attach", control]
    return ["", f"{KEY_VARIABLE}={shlex.quote(secret)} {shlex.join(command)}"]


def _places(behind: Behind) -> list[str]:
    places = behind.placeholders()
    lines = []
    if "opencode_url" in places:
        access = f"(user {USERNAME}, password {places['opencode_password']})"
        lines.append(f"opencode      {places['opencode_url']}  {access}")
    return [*lines, f"model server  {places['model_url']}"]


def _curl_to_parts(target: Target, behind: Behind) -> str:
    places = behind.placeholders()
    if "opencode_url" in places:
        access = f"{USERNAME}:{places['opencode_password']}"
        return _curl(f"{places['opencode_url']}/session", {"title": "Hello"}, "-u", access)
    body = {"model": models_of(target)[0][1], "messages": [{"role": "user", "content": "Hello"}]}
    return _curl(f"{places['model_url']}/chat/completions", body)


def _curl(url: str, body: Any, *options: str) -> str:
    return shlex.join(["curl", "-sS", url, *options, "-H", "content-type: application/json", "-d", json.dumps(body)])
