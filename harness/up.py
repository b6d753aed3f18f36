"""What `turnproof up` prints: where everything is, and a line that asks the target something."""

from __future__ import annotations

import json
import shlex

from harness import kilo_behind
from harness.behind import ModelBehind
from harness.kilo_agents import LiveAgents, Wanted
from harness.launch import Launch
from harness.stack import Stack


def describe(launch: Launch) -> str:
    """The addresses of the running parts, a valid key, and a curl command that uses it.

    The key and opencode's password are shown in clear: both were made for this run, or are the user's own.
    """
    facts, behind = launch.target.facts, launch.behind
    if isinstance(launch.live, LiveAgents):
        return _agent(launch.live)
    if launch.target.kind == "kilo-cli":
        assert isinstance(behind, ModelBehind)
        return f"model server  {behind.model_url}"
    lines = [f"endpoint      {launch.live.url}/v1"]
    if isinstance(behind, Stack):
        lines += [
            f"opencode      {behind.opencode_url}  (user {behind.username}, password {behind.password})",
            f"model server  {behind.model_url}",
        ]
    elif isinstance(behind, ModelBehind) and launch.target.model is None:
        lines.append(f"model server  {behind.model_url}")
    key = next(key for key in facts.keys if key.state == "valid")
    agent = next((agent.id for agent in facts.agents if agent.id in key.agents and not agent.no_model), "MODEL")
    secret = launch.live.keys[key.name]
    body = json.dumps({"model": agent, "messages": [{"role": "user", "content": "Hello"}]})
    curl = ["curl", "-sS", f"{launch.live.url}/v1/chat/completions", "-H", f"authorization: Bearer {secret}"]
    curl += ["-H", "content-type: application/json", "-d", body]
    return "\n".join([*lines, f"key           {secret}", "", shlex.join(curl)])


def _agent(live: LiveAgents) -> str:
    """An agent that wraps the Kilo CLI, told nothing but a model, a model server and a resources server."""
    servers = {"model_server": "{model_url}", "resources_server": "{resources_url}"}
    url = live.start(Wanted({"model": kilo_behind.MODELS[0], **servers}))
    curl = ["curl", "-sS", f"{url}/v1/responses", "-H", "content-type: application/json", "-d", '{"input": "Hello"}']
    lines = [
        f"agent             {url}",
        f"model server      {live.behind.model_url}",
        f"resources server  {live.behind.resources.url}",
    ]
    return "\n".join([*lines, "", shlex.join(curl)])
