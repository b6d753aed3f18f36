"""Lines as `kilo run --format json` prints them."""

from __future__ import annotations

import json
from typing import Any

TOKENS = {"total": 150, "input": 90, "output": 30, "reasoning": 20, "cache": {"read": 10, "write": 0}}


def line(part: dict[str, Any], **more: Any) -> bytes:
    """A part event."""
    kind = part["type"].replace("-", "_").replace("tool", "tool_use")
    ids = {"sessionID": "ses_1", "messageID": "msg_1"}
    return json.dumps({"type": kind, "timestamp": 1, "sessionID": "ses_1", "part": {**ids, **part}, **more}).encode()


def error(value: Any) -> bytes:
    """An error event."""
    return json.dumps({"type": "error", "timestamp": 1, "sessionID": "ses_1", "error": value}).encode()


START = line({"id": "prt_0", "type": "step-start"})
THOUGHT = line({"id": "prt_1", "type": "reasoning", "text": "hm"})
TEXT = line({"id": "prt_2", "type": "text", "text": "größer"})
TOOL = line(
    {
        "id": "prt_3",
        "type": "tool",
        "callID": "call_1",
        "tool": "bash",
        "state": {"status": "completed", "input": {"command": "ls"}, "output": "file"},
    }
)
FINISH = line({"id": "prt_4", "type": "step-finish", "reason": "stop", "tokens": TOKENS})
TURN = (START, THOUGHT, TEXT, TOOL, FINISH)
