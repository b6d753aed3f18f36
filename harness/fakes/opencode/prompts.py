"""What the stand-in says to the model: system texts, the conversation, the tools.

The texts are its own; what is told by them (a turn, a title, a summary) is told as the real one tells it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from harness.fakes.opencode.rules import Rule, is_offered
from harness.fakes.opencode.sessions import Message, Session
from harness.fakes.opencode.settings import ModelRef, Settings

TOOLS = (
    "bash",
    "edit",
    "glob",
    "grep",
    "question",
    "read",
    "skill",
    "task",
    "todowrite",
    "webfetch",
    "write",
)

TURN = "You are opencode, an agent that helps with software engineering tasks. Use the tools at hand."
TITLE = "You are a title generator. You answer with a title for the conversation, and with nothing else."
SUMMARY = "You are a context summarization agent. You answer with a summary of the conversation."
_WANTED = "Create a new anchored summary from the conversation above, so that another agent can continue the work."
CONTINUE = (
    "The previous request exceeded the provider's size limit due to large media attachments. The conversation was "
    "compacted and media files were removed from context. If the user was asking about attached images or files, "
    "explain that the attachments were too large to process and suggest they try again with smaller or fewer "
    "files.\n\nContinue if you have next steps, or stop and ask for clarification if you are unsure how to proceed."
)


def turn_call(settings: Settings, session: Session, user: Message) -> dict[str, Any]:
    """The call for one step of a turn."""
    agent, model = settings.agents[user.info["agent"]], user.info["model"]
    system = "\n".join(filter(None, (agent.prompt or TURN, user.info.get("system"))))
    tools = offered(settings, session, user)
    told = {"tools": [_tool(name) for name in tools], "tool_choice": "auto"} if tools else {}
    return {
        "model": model["modelID"],
        "max_tokens": settings.max_tokens(model),
        **agent.options,
        "messages": [{"role": "system", "content": system}, *conversation(session)],
        **told,
        "stream": True,
        "stream_options": {"include_usage": True},
    }


def title_call(settings: Settings, model: ModelRef, user: Message) -> dict[str, Any]:
    """The call for a session's title."""
    asked = {"role": "user", "content": "Generate a title for this conversation:\n"}
    return _plain_call(settings, model, TITLE, [asked, *_told(user)])


def summary_call(settings: Settings, session: Session, model: ModelRef) -> dict[str, Any]:
    """The call for a compaction's summary."""
    said = "\n\n".join(f"[{_who(message)}]: {text}" for message, text in _texts(session))
    asked = f"Here is the conversation so far:\n\n<conversation>\n{said}\n</conversation>\n\n{_WANTED}"
    return _plain_call(settings, model, SUMMARY, [{"role": "user", "content": asked}])


def conversation(session: Session) -> list[dict[str, Any]]:
    """The session's messages as the model gets them; what a compaction summed up is left out."""
    messages = list(session.messages.values())
    for index in range(len(messages) - 1, 0, -1):
        if messages[index].info.get("summary") is True and messages[index].info.get("finish") == "stop":
            messages = messages[index - 1 :]
            break
    return [told for message in messages for told in _told(message)]


def _plain_call(settings: Settings, model: ModelRef, system: str, messages: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "model": model["modelID"],
        "max_tokens": settings.max_tokens(model),
        "messages": [{"role": "system", "content": system}, *messages],
        "stream": True,
        "stream_options": {"include_usage": True},
    }


def _told(message: Message) -> Iterable[dict[str, Any]]:
    if message.info["role"] == "user":
        texts = _told_by_user(message)
        content = [{"type": "text", "text": text} for text in texts]
        return [{"role": "user", "content": content if len(texts) > 1 else texts[0]}] if texts else []
    if "error" in message.info and message.info["error"]["name"] != "MessageAbortedError":
        return []
    return _told_by_assistant(message)


def _told_by_user(message: Message) -> list[str]:
    parts = message.parts.values()
    texts = [part["text"] for part in parts if part["type"] == "text" and part["text"] and not part.get("ignored")]
    return texts + ["What did we do so far?" for part in parts if part["type"] == "compaction"]


def _told_by_assistant(message: Message) -> list[dict[str, Any]]:
    parts = message.parts.values()
    text = "".join(part["text"] for part in parts if part["type"] == "text")
    reasoning = "".join(part["text"] for part in parts if part["type"] == "reasoning")
    calls = [part for part in parts if part["type"] == "tool"]
    if not (text or calls):
        return []
    told: dict[str, Any] = {"role": "assistant", "content": text}
    if reasoning:
        told["reasoning_content"] = reasoning
    if calls:
        told["tool_calls"] = [_called(part) for part in calls]
    results = [{"role": "tool", "tool_call_id": part["callID"], "content": _result(part)} for part in calls]
    return [told, *results]


def _called(part: dict[str, Any]) -> dict[str, Any]:
    arguments = json.dumps(part["state"]["input"], separators=(",", ":"), ensure_ascii=False)
    return {"id": part["callID"], "type": "function", "function": {"name": part["tool"], "arguments": arguments}}


def _result(part: dict[str, Any]) -> str:
    state = part["state"]
    return str(state.get("output", state.get("error", "Tool execution was interrupted")))


def _texts(session: Session) -> Iterable[tuple[Message, str]]:
    for message in session.messages.values():
        text = "".join(part["text"] for part in message.parts.values() if part["type"] == "text")
        if text:
            yield message, text


def _who(message: Message) -> str:
    return str(message.info["role"]).capitalize()


def rules_of(settings: Settings, session: Session, user: Message) -> list[Rule]:
    """The rules under which a turn stands: those of its agent, and over them those of the session."""
    return [*settings.agents[user.info["agent"]].rules, *session.permission]


def offered(settings: Settings, session: Session, user: Message) -> list[str]:
    """The tools of which the model is told."""
    rules, wanted = rules_of(settings, session, user), user.info.get("tools") or {}
    return [tool for tool in TOOLS if wanted.get(tool) is not False and is_offered(rules, tool)]


def _tool(name: str) -> dict[str, Any]:
    parameters = {"type": "object", "properties": {}, "additionalProperties": True}
    return {
        "type": "function",
        "function": {"name": name, "description": f"{name}, of the stand-in", "parameters": parameters},
    }
