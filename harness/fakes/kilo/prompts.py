"""What the stand-in tells the model: of the size of the CLI's own texts, in words of its own."""

from __future__ import annotations

import json
import time
from typing import Any

from harness.fakes.kilo.rules import Rules

TITLE = "You are a title generator. Answer with a title for the conversation and with nothing else."
TITLE_REQUEST = {"role": "user", "content": "Generate a title for this conversation:\n"}
SUMMARY = "You are an anchored context summarization agent. Sum up the conversation."
CONTINUE = (
    "The conversation did not fit the model's window and was summed up. Go on if there is something left to do, "
    "or ask if you do not know what."
)

_FILLER = "This sentence takes the place of one of the many that tell the model how to go about its work. "


def system(rules: Rules) -> str:
    """The system text of a turn."""
    return _filled("You are a coding agent. ", rules.system)


def tools(rules: Rules) -> list[dict[str, Any]]:
    """The tools that the model is offered."""
    room = rules.schemas // max(len(rules.tools), 1)
    return [_tool(name, room) for name in rules.tools]


def user(rules: Rules, prompt: str, directory: str) -> dict[str, Any]:
    """The user's message as this version words it."""
    if not rules.environment:
        return {"role": "user", "content": prompt}
    at = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    about = f"\n\n<environment_details>\nMessage time: {at}\nWorking directory: {directory}\n</environment_details>"
    return {"role": "user", "content": [{"type": "text", "text": prompt}, {"type": "text", "text": about}]}


def summary_request(messages: list[dict[str, Any]]) -> dict[str, Any]:
    """The request to sum a conversation up."""
    said = json.dumps(messages, ensure_ascii=False)
    return {"role": "user", "content": f"Create a new anchored summary of this conversation:\n{said}"}


def _tool(name: str, room: int) -> dict[str, Any]:
    function = {
        "name": name,
        "description": "",
        "parameters": {"type": "object", "properties": {}, "additionalProperties": True},
    }
    whole = {"type": "function", "function": function}
    taken = len(json.dumps(whole, separators=(",", ":"))) + 1
    function["description"] = _filled("", room - taken)
    return whole


def _filled(beginning: str, characters: int) -> str:
    room = max(characters - len(beginning), 0)
    return beginning + (_FILLER * (room // len(_FILLER) + 1))[:room]
