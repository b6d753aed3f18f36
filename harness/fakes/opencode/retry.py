"""How long opencode waits before it tries a model call again, and what an answer of the model server is to it."""

from __future__ import annotations

import contextlib
import json
import random
import re
from collections.abc import Callable, Container
from typing import Any

from harness.exchange import parse_json

_FIRST, _FACTOR, _LONGEST = 2.0, 2.0, 30.0

_OVERFLOW = re.compile(
    r"prompt is too long|input is too long for requested model|exceeds the context window"
    r"|input token count.*exceeds the maximum|maximum prompt length is \d+|reduce the length of the messages"
    r"|maximum context length is \d+ tokens|exceeds the available context size|context length is only \d+ tokens"
    r"|context[_ ]length[_ ]exceeded|request entity too large|too many tokens|token limit exceeded",
    re.IGNORECASE,
)
_OVERFLOW_CODE = "context_length_exceeded"

_PASSING = re.compile(r"overloaded|rate.?limit|too.?many.?requests|server.?error|exhausted|unavailable", re.IGNORECASE)
"""What an error in a stream says when it is the server's, and may be gone the next time."""


def retry_seconds(attempt: int, headers: dict[str, str]) -> float:
    """The wait before try `attempt` (1 for the first again): what the server wishes, else 2, 4, 8 … up to 30 s.

    The latter is drawn out by up to a quarter, by chance.
    """
    for name, unit in (("retry-after-ms", 1000.0), ("retry-after", 1.0)):
        with contextlib.suppress(ValueError):
            if name in headers:
                return float(headers[name]) / unit
    return min(_FIRST * _FACTOR ** (attempt - 1), _LONGEST) * random.uniform(1.0, 1.25)


def is_overflow(message: str) -> bool:
    """Whether a refusal says that the prompt does not fit the model's window."""
    return _OVERFLOW.search(message) is not None


class ModelFailed(Exception):
    """A model call that came to nothing: `error` as `session.error` tells it, and whether it is tried again."""

    def __init__(self, error: dict[str, Any], shown: str, retried: bool, headers: dict[str, str] | None = None) -> None:
        super().__init__(shown)
        self.error, self.shown, self.retried, self.headers = error, shown, retried, headers or {}

    @property
    def overflow(self) -> bool:
        """Whether the prompt was too long."""
        return bool(self.error["name"] == "ContextOverflowError")


def refused(
    status: int,
    headers: dict[str, str],
    body: bytes,
    url: str,
    retryable: bool,
    types: Container[str],
    overflows: Callable[[int, str], bool] = lambda _status, message: is_overflow(message),
) -> ModelFailed:
    """What an answer other than 200 means. An error of one of `types` is tried again whatever its status."""
    text = body.decode("utf-8", "replace")
    payload = parse_json(body)
    inner = payload.get("error") if isinstance(payload, dict) else None
    message = str(inner.get("message")) if isinstance(inner, dict) and inner.get("message") else text or str(status)
    coded = isinstance(inner, dict) and inner.get("code") == _OVERFLOW_CODE
    if coded or overflows(status, message):
        data = {"message": message, "responseBody": text}
        return ModelFailed({"name": "ContextOverflowError", "data": data}, message, False, headers)
    data_ = {
        "message": message,
        "statusCode": status,
        "isRetryable": retryable,
        "responseHeaders": headers,
        "responseBody": text,
        "metadata": {"url": url},
    }
    by_type = isinstance(inner, dict) and inner.get("type") in types
    return ModelFailed({"name": "APIError", "data": data_}, message, retryable or by_type, headers)


_CLOSED = (
    "Cannot connect to API: The socket connection was closed unexpectedly. For more information, pass "
    "`verbose: true` in the second argument to fetch()"
)


def broken_off(url: str) -> ModelFailed:
    """A connection that was refused or broke off."""
    data = {"message": _CLOSED, "isRetryable": True, "metadata": {"url": url}}
    return ModelFailed({"name": "APIError", "data": data}, _CLOSED, True)


def passes(error: dict[str, Any]) -> bool:
    """Whether an error in a stream is tried again: for its words, or for a code that is a status of such an answer."""
    said = " ".join(str(error.get(key)) for key in ("message", "type", "code"))
    code = str(error.get("code"))
    return _PASSING.search(said) is not None or code == "429" or re.fullmatch(r"5\d\d", code) is not None


def error_in_stream(error: dict[str, Any], retried: bool) -> ModelFailed:
    """An error object in the middle of a stream; a full window is no other to it."""
    shown = json.dumps(error, separators=(",", ":"), ensure_ascii=False)
    return ModelFailed({"name": "UnknownError", "data": {"message": shown}}, shown, retried)


def no_chunk(value: Any) -> ModelFailed:
    """An event whose JSON is neither a chunk nor an error."""
    text = json.dumps(value, separators=(",", ":"), ensure_ascii=False)
    shown = f"Type validation failed: Value: {text}.\nError message: it is no chunk"
    return ModelFailed({"name": "UnknownError", "data": {"message": shown}}, shown, False)


def not_json(text: str) -> ModelFailed:
    """An event that is not JSON."""
    shown = f"JSON parsing failed: Text: {text}.\nError message: JSON Parse error: Unexpected EOF"
    return ModelFailed({"name": "UnknownError", "data": {"message": shown}}, shown, False)
