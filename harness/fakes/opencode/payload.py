"""What bodies must look like, and in which words the server refuses what does not."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from harness.fakes.opencode.answers import Place, bad_request

NOTHING = object()
"""The body of a request without one, the value of a key that is not there."""

REPLIES = ("once", "always", "reject")
ACTIONS = ("allow", "deny", "ask")
_RULE = ("permission", "pattern")
_NEEDED = {"text": ("text",), "file": ("mime", "url"), "agent": ("name",), "subtask": ("prompt",)}
_PARTS = " | ".join(f'{{ readonly "type": "{kind}", ... }}' for kind in _NEEDED)
_OPTIONAL: Mapping[str, tuple[type, str]] = {
    "noReply": (bool, "boolean"),
    "system": (str, "string"),
    "agent": (str, "string"),
    "variant": (str, "string"),
    "messageID": (str, "string"),
    "tools": (dict, "object"),
    "format": (dict, "OutputFormat"),
}


def check_prompt(body: Any) -> dict[str, Any]:
    """The body, which is a prompt's; raises Refused with the first thing that is wrong with it."""
    prompt = check_object(body)
    _check_parts(prompt.get("parts", NOTHING))
    model = prompt.get("model")
    if model is not None:
        if not isinstance(model, dict):
            raise bad_request(f"Expected object | null, got {_shown(model)}{_at('model')}")
        for key in ("providerID", "modelID"):
            _check_string(model.get(key, NOTHING), "model", key)
    for key in _OPTIONAL:
        _check_optional(prompt, key)
    if prompt.get("messageID") is not None:
        check_id("msg", prompt["messageID"], "messageID")
    for name, on in (prompt.get("tools") or {}).items():
        if not isinstance(on, bool):
            raise bad_request(f"Expected boolean, got {_shown(on)}{_at('tools', name)}")
    return prompt


def check_change(body: Any) -> dict[str, Any]:
    """The body, which changes a session; raises Refused."""
    change = check_object(body)
    title = change.get("title")
    if title is not None and not isinstance(title, str):
        raise bad_request(f"Expected string | null, got {_shown(title)}{_at('title')}")
    return change


def check_reply(body: Any, key: str) -> dict[str, Any]:
    """The body, which replies to a permission under `key`; raises Refused."""
    given = check_object(body)
    reply = given.get(key, NOTHING)
    if reply is NOTHING:
        raise bad_request(f"Missing key{_at(key)}")
    if reply not in REPLIES:
        wanted = " | ".join(f'"{known}"' for known in REPLIES)
        raise bad_request(f"Expected {wanted}, got {_shown(reply)}{_at(key)}")
    message = given.get("message")
    if message is not None and not isinstance(message, str):
        raise bad_request(f"Expected string | null, got {_shown(message)}{_at('message')}")
    return given


def check_answers(body: Any) -> list[list[str]]:
    """The answers of a body that answers questions; raises Refused."""
    answers = check_object(body).get("answers", NOTHING)
    if answers is NOTHING:
        raise bad_request(f"Missing key{_at('answers')}")
    if not isinstance(answers, list):
        raise bad_request(f"Expected array, got {_shown(answers)}{_at('answers')}")
    for index, answer in enumerate(answers):
        if not isinstance(answer, list):
            raise bad_request(f"Expected QuestionAnswer, got {_shown(answer)}{_at('answers', index)}")
        for inner, chosen in enumerate(answer):
            _check_string(chosen, "answers", index, inner)
    return answers


def check_limit(given: str) -> int:
    """How many messages are asked for; raises Refused."""
    try:
        limit = float(given)
    except ValueError:
        raise bad_request(f"Expected an integer, got NaN{_at('limit')}", "Query") from None
    if not limit.is_integer():
        raise bad_request(f"Expected an integer, got {given}{_at('limit')}", "Query")
    if limit < 0:
        raise bad_request(f"Expected a value greater than or equal to 0, got {given}{_at('limit')}", "Query")
    return int(limit)


def check_id(prefix: str, given: str, *path: str | int, kind: Place = "Payload") -> None:
    """Raise Refused for what is no id of that kind."""
    if not given.startswith(prefix):
        raise bad_request(f'Expected a string starting with "{prefix}", got {_shown(given)}{_at(*path)}', kind)


def check_object(body: Any) -> dict[str, Any]:
    """The body, which is an object; raises Refused."""
    if not isinstance(body, dict):
        raise bad_request(f"Expected object, got {_shown(body)}")
    return body


def is_session(wanted: dict[str, Any]) -> bool:
    """Whether the fields of a new session have the right types."""
    texts = all(isinstance(wanted[key], str) for key in ("title", "parentID", "agent", "workspaceID") if key in wanted)
    objects = all(isinstance(wanted[key], dict) for key in ("metadata", "model") if key in wanted)
    rules = wanted.get("permission", [])
    parent = str(wanted.get("parentID", "ses"))
    return texts and objects and parent.startswith("ses") and isinstance(rules, list) and all(map(_is_rule, rules))


def _is_rule(rule: Any) -> bool:
    of_texts = isinstance(rule, dict) and all(isinstance(rule.get(key), str) for key in _RULE)
    return of_texts and rule.get("action") in ACTIONS


def _check_optional(prompt: dict[str, Any], key: str) -> None:
    value, (type_, name) = prompt.get(key), _OPTIONAL[key]
    if value is not None and not isinstance(value, type_):
        raise bad_request(f"Expected {name} | null, got {_shown(value)}{_at(key)}")


def _check_parts(parts: Any) -> None:
    if parts is NOTHING:
        raise bad_request(f"Missing key{_at('parts')}")
    if not isinstance(parts, list):
        raise bad_request(f"Expected array, got {_shown(parts)}{_at('parts')}")
    for index, part in enumerate(parts):
        kind = part.get("type") if isinstance(part, dict) else None
        if not isinstance(part, dict) or kind not in _NEEDED:
            raise bad_request(f"Expected {_PARTS}, got {_shown(part)}{_at('parts', index)}")
        for key in _NEEDED[kind]:
            _check_string(part.get(key, NOTHING), "parts", index, key)
        if isinstance(part.get("id"), str):
            check_id("prt", part["id"], "parts", index, "id")


def _check_string(value: Any, *path: str | int) -> None:
    if value is NOTHING:
        raise bad_request(f"Missing key{_at(*path)}")
    if not isinstance(value, str):
        raise bad_request(f"Expected string, got {_shown(value)}{_at(*path)}")


def _at(*path: str | int) -> str:
    return "\n  at " + "".join(f"[{json.dumps(key)}]" for key in path)


def _shown(value: Any) -> str:
    return "undefined" if value is NOTHING else json.dumps(value, separators=(",", ":"), ensure_ascii=False)
