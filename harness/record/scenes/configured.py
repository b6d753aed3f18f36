"""What follows from the configuration."""

from __future__ import annotations

import json
from typing import Any

from harness.fakes.model.script import Answer, ToolCall
from harness.record.scenario import scenario
from harness.record.stage import Heard, Stage


def _calling(tool: str, arguments: dict[str, Any]) -> Answer:
    return Answer("", tool_calls=(ToolCall(tool, json.dumps(arguments)),), finish="tool_calls")


def _turn(stage: Stage, heard: Heard, word: str, *answers: Answer, **body: Any) -> None:
    session = stage.session()
    stage.model_says(*answers, Answer("done"), to=word)
    stage.prompt(session, word, **body)
    stage.idle(heard, session)


def _bash(command: str) -> Answer:
    return _calling("bash", {"command": command, "description": "does it"})


@scenario
def configured_permissions(stage: Stage) -> None:
    """What the configuration allows is not asked for, what it denies is not done, and not offered where all is."""
    rules = {"external_directory": "allow", "bash": {"*": "deny", "echo *": "allow"}, "webfetch": "deny"}
    own = stage.own("permitted", permission=rules, tools={"todowrite": False})
    outside = own.project_folder.parent / "outside.txt"
    outside.write_text("a line\n", encoding="utf-8")
    heard = own.listen()
    _turn(own, heard, "~outside~", _calling("read", {"filePath": str(outside)}))
    _turn(own, heard, "~allowed~", _bash("echo hi"))
    _turn(own, heard, "~denied~", _bash("printf hi"))
    _turn(own, heard, "~hidden~", _calling("webfetch", {"url": "http://127.0.0.1:9/", "format": "text"}))


@scenario
def configured_models(stage: Stage) -> None:
    """The model and the agent of a prompt that names none, the model of titles, and the most that is asked of one."""
    limit = {"limit": {"context": 100000, "output": 500}}
    models: dict[str, Any] = {"provider": {"litellm": {"models": {"small-1": limit}}}}
    own = stage.own("modelled", model="litellm/vendor/large-1", small_model="litellm/small-1", **models)
    heard = own.listen()
    session = str(own.call("POST", "/session", {}).json()["id"])
    own.prompt(session, "hello", model=None)
    own.idle(heard, session)
    own.quiet(heard, 2.5)
    _turn(own, heard, "~small~", model={"providerID": "litellm", "modelID": "small-1"})


@scenario
def configured_agents(stage: Stage) -> None:
    """Agents of the configuration: their model and rules; those that are switched off are not there."""
    agents: dict[str, Any] = {
        "helper": {"prompt": "You help.", "mode": "primary", "model": "litellm/small-1", "top_p": 0.25},
        "scout": {"mode": "subagent", "permission": {"bash": "deny"}, "options": {"effort": "low"}},
        "explore": {"disable": True},
    }
    own = stage.own("staffed", agent=agents, default_agent="helper")
    heard = own.listen()
    _turn(own, heard, "~default~", model=None)
    _turn(own, heard, "~built-in~", agent="build")
    for agent in ("scout", "explore"):
        task = {"description": "look", "prompt": f"~child of {agent}~", "subagent_type": agent}
        _turn(own, heard, f"~{agent}~", _calling("task", task), agent="build")
    session = own.session()
    own.prompt(session, "hello", agent="nobody")
    own.quiet(heard, 2.5)
