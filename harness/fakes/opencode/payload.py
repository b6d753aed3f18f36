"""What a prompt's body must look like, and in which words the server refuses what does not."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from harness.fakes.opencode.answers import bad_request

_NOTHING = object()
_NEEDED = {"text": "text", "file": "mime", "agent": "name", "subtask": "prompt"}
_PARTS = " | ".join(f'{{ readonly "type": "{kind}", ... }}' for kind in _NEEDED)
_OPTIONAL: Mapping[str, tuple[type, str]] = {
    "noReply": (bool, "boolean"),
    "system": (str, "string"),
    "agent": (str, "string"),
    "tools": (dict, "object"),
}


def check_prompt(body: Any) -> dict[str, Any]:
    """The body, which is a prompt's; raises Refused with the first thing that is wrong with it."""
    if not isinstance(body, dict):
        raise bad_request(f"Expected object, got {_shown(body)}")
    _check_parts(body.get("parts", _NOTHING))
    model = body.get("model")
    if model is not None:
        if not isinstance(model, dict):
            raise bad_request(f"Expected object | null, got {_shown(model)}{_at('model')}")
        for key in ("providerID", "modelID"):
            _check_string(model.get(key, _NOTHING), "model", key)
    for key, (type_, name) in _OPTIONAL.items():
        value = body.get(key)
        if value is not None and not isinstance(value, type_):
            raise bad_request(f"Expected {name} | null, got {_shown(value)}{_at(key)}")
    return body


def _check_parts(parts: Any) -> None:
    if parts is _NOTHING:
        raise bad_request(f"Missing key{_at('parts')}")
    if not isinstance(parts, list):
        raise bad_request(f"Expected array, got {_shown(parts)}{_at('parts')}")
    for index, part in enumerate(parts):
        kind = part.get("type") if isinstance(part, dict) else None
        if not isinstance(part, dict) or kind not in _NEEDED:
            raise bad_request(f"Expected {_PARTS}, got {_shown(part)}{_at('parts', index)}")
        _check_string(part.get(_NEEDED[kind], _NOTHING), "parts", index, _NEEDED[kind])


def _check_string(value: Any, *path: str | int) -> None:
    if value is _NOTHING:
        raise bad_request(f"Missing key{_at(*path)}")
    if not isinstance(value, str):
        raise bad_request(f"Expected string, got {_shown(value)}{_at(*path)}")


def _at(*path: str | int) -> str:
    return "\n  at " + "".join(f"[{json.dumps(key)}]" for key in path)


def _shown(value: Any) -> str:
    return "undefined" if value is None else json.dumps(value, separators=(",", ":"))
