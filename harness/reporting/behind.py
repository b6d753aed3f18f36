"""What went wrong behind a target, as its exchanges with opencode tell."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from harness.exchange import Exchange, parse_json
from harness.sse import Parser


def failed_behind(exchanges: Sequence[Exchange]) -> Exchange | None:
    """The last exchange with opencode that tells of an error, by its status or in its body; None when none does."""
    return next((one for one in reversed(exchanges) if one.hop == "opencode" and _failed(one)), None)


def errors_in(exchange: Exchange) -> str:
    """The errors of messages and sessions in the body of an answer that is none itself, as JSON; empty without any.

    One that is nested too deeply to be written is none.
    """
    if exchange.status is None or exchange.status >= 400:
        return ""
    is_stream = exchange.content_type == "text/event-stream"
    errors = _session_errors(exchange) if is_stream else _message_errors(exchange)
    try:
        return "\n".join(json.dumps(error, ensure_ascii=False, indent=2) for error in errors)
    except RecursionError:
        return ""


def _failed(exchange: Exchange) -> bool:
    return exchange.end == "failed" or (exchange.status or 0) >= 400 or bool(errors_in(exchange))


def _session_errors(exchange: Exchange) -> Iterator[Any]:
    for event in Parser().feed(exchange.body):
        value = parse_json(event.data.encode("utf-8", "surrogatepass"))
        if isinstance(value, dict) and value.get("type") == "session.error":
            yield value


def _message_errors(exchange: Exchange) -> Iterator[Any]:
    body = exchange.json()
    for message in body if isinstance(body, list) else [body]:
        info = message.get("info") if isinstance(message, dict) else None
        if isinstance(info, dict) and info.get("error"):
            yield {"info": {"error": info["error"]}}
