"""What follows from the configuration."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from harness.actors import JournalReader, Script
from harness.check import expect
from harness.exchange import Exchange, header
from harness.expectations import shown
from harness.fakes.model.script import Answer, ToolCall
from harness.opencode import MODELS, PROVIDER
from harness.opencode_calls import calls_with, get, post, prompt, session_in
from harness.opencode_processes import OwnServers

MEND = "go by the configuration"
LARGE = MODELS[0]
LIMIT = {"context": 100000, "output": 500}
PERMISSIONS = {
    "permission": {"external_directory": "allow", "bash": {"*": "deny", "echo *": "allow"}, "webfetch": "deny"},
    "tools": {"todowrite": False},
}
MODELLED = {
    "model": f"{PROVIDER}/{LARGE}",
    "default_agent": "helper",
    "agent": {"helper": {"mode": "primary", "prompt": "You are the helper of the house."}},
    "provider": {PROVIDER: {"options": {"headers": {"x-house": "mine"}}, "models": {LARGE: {"limit": LIMIT}}}},
}

AGENTS = {
    "build": ("primary", True),
    "plan": ("primary", True),
    "general": ("subagent", True),
    "explore": ("subagent", True),
    "title": ("primary", True),
    "helper": ("primary", False),
}
"""Agents that are there, with their mode and whether they are opencode's own."""


def ask(servers: OwnServers, label: str, name: str, word: str, **body: Any) -> Exchange:
    """A whole turn of a new session on a server of the check's own, whose answer comes when it is over."""
    session = session_in(servers.send(f"session of {label}", name, post("/session", {"title": "checked"})))
    whole = {key: value for key, value in prompt(word, **body).items() if value is not None}
    return servers.send(label, name, post(f"/session/{session}/message", whole))


@pytest.mark.requirement("OS-CONFIG-1")
def test_the_configured_permissions_hold(
    servers: OwnServers, script: Script, journal: JournalReader, nonce: Callable[[str], str]
) -> None:
    """What is allowed is done unasked, what is denied is not done, and not offered where all of it is denied."""
    wanted = {
        "outside": ToolCall("read", '{"filePath": "/etc/hosts"}'),
        "allowed": ToolCall("bash", '{"command": "echo hi", "description": "says hi"}'),
        "denied": ToolCall("bash", '{"command": "printf hi", "description": "says hi"}'),
    }
    servers.start("start", "ruled", settings=PERMISSIONS)
    for name, call in wanted.items():
        script.answer(name, Answer("", tool_calls=(call,), finish="tool_calls"), Answer("done"), nonce=nonce(name))
        reply = ask(servers, name, "ruled", nonce(name))
        calls = calls_with(journal, f"calls of {name}", nonce(name))
        told = [m["content"] for m in calls[-1].request.json()["messages"] if m["role"] == "tool"]
        refused = "rule which prevents you" in str(told)
        right = reply.status == 200 and len(told) == 1 and refused == (name == "denied")
        expect(right, f"a call that is {name}, and its result", shown(reply) + repr(told), MEND, reply)
    tools = {tool["function"]["name"] for tool in calls[0].request.json()["tools"]}
    hidden = {"webfetch", "todowrite"} & tools
    expect(not hidden and "bash" in tools, "no tool that is denied for everything", repr(hidden), MEND, reply)


@pytest.mark.requirement("OS-CONFIG-2")
def test_the_configured_model_and_agent_are_used(
    servers: OwnServers, journal: JournalReader, nonce: Callable[[str], str]
) -> None:
    """By a prompt that names none; with the agent's prompt, the model's limit and the provider's headers."""
    servers.start("start", "modelled", settings=MODELLED)
    reply = ask(servers, "ask", "modelled", nonce("asked"), model=None)
    calls = calls_with(journal, "calls", nonce("asked"))
    expect(reply.status == 200 and len(calls) == 1, "one model call", shown(reply), MEND, reply)
    body = calls[0].request.json()
    used = (body["model"], body["max_tokens"], header(calls[0].request.headers, "x-house"))
    expect(used == (LARGE, 500, "mine"), f"{LARGE}, 500 tokens at most, the header", repr(used), MEND, calls[0])
    system = json.dumps([message["content"] for message in body["messages"] if message["role"] == "system"])
    expect("helper of the house" in system, "the agent's prompt", system[:200], MEND, calls[0])
    agent = reply.json()["info"].get("agent")
    expect(agent == "helper", "a message of the default agent", repr(agent), MEND, reply)


@pytest.mark.requirement("OS-CONFIG-3")
def test_what_is_configured_is_told(servers: OwnServers) -> None:
    """Providers, agents and folder, as clients look them up."""
    servers.start("start", "modelled", settings=MODELLED)
    reply = servers.send("providers", "modelled", get("/config/providers"))
    listed = expect_json(reply)
    own: dict[str, Any] = next((one for one in listed.get("providers", []) if one.get("id") == PROVIDER), {})
    models = own.get("models", {})
    limit = models.get(LARGE, {}).get("limit", {})
    right = set(models) == set(MODELS) and limit.items() >= LIMIT.items() and listed["default"].get(PROVIDER) in models
    expect(right, f"{PROVIDER} with {' and '.join(MODELS)}, their limits and a default", shown(reply), MEND, reply)
    key = own.get("options", {}).get("apiKey")
    expect(bool(key), "the provider's options", repr(own.get("options")), MEND, reply)
    agents = servers.send("agents", "modelled", get("/agent"))
    told = {one.get("name"): one for one in expect_json(agents)}
    kinds = {name: (one.get("mode"), one.get("native")) for name, one in told.items()}
    expect(kinds.items() >= AGENTS.items(), f"agents {AGENTS}", repr(kinds), MEND, agents)
    rules = [one for one in told["helper"].get("permission", []) if one.get("permission") == "external_directory"]
    expect(bool(rules) and rules[0].get("action") == "ask", "the rules of an agent", repr(rules), MEND, agents)
    folder = servers.send("path", "modelled", get("/path?directory=%2Ftmp"))
    directory = expect_json(folder).get("directory")
    expect(directory == "/tmp", "the directory that was asked about", repr(directory), MEND, folder)


def expect_json(reply: Exchange) -> Any:
    """What a route of the server answers."""
    answered = reply.status == 200 and reply.content_type == "application/json"
    expect(answered, "200 and JSON", shown(reply), MEND, reply)
    return reply.json()
