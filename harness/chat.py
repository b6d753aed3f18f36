"""Chat completions as a check writes and reads them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from harness.exchange import Exchange, Request
from harness.sse import Event, Parser

PATH = "/v1/chat/completions"
_JSON = (("content-type", "application/json"),)
_PROMPT = re.compile(r"/session/[^/]+/(prompt_async|message)")


def post(body: Any, path: str = PATH) -> Request:
    """A POST of `body` as JSON."""
    return Request("POST", path, _JSON, json.dumps(body).encode())


def ask(model: str, content: Any, **fields: Any) -> Request:
    """A chat completions request with one user message; `fields` are added to the body."""
    return post({"model": model, "messages": [{"role": "user", "content": content}], **fields})


def error_of(exchange: Exchange) -> dict[str, Any]:
    """The answer's `error` object, or an empty one."""
    body = exchange.json()
    error = body.get("error") if isinstance(body, dict) else None
    return error if isinstance(error, dict) else {}


def content_of(exchange: Exchange) -> str | None:
    """The content of a JSON completion's message, or None when the answer is none."""
    try:
        content = exchange.json()["choices"][0]["message"]["content"]
    except (KeyError, IndexError, TypeError):
        return None
    return content if isinstance(content, str) else None


def finish_reasons_of(exchange: Exchange) -> list[Any]:
    """The finish reasons that an answer gives, in a JSON completion or in a stream's chunks; nulls are left out."""
    body = exchange.json()
    choices = body.get("choices") if isinstance(body, dict) else stream_of(exchange).choices
    reasons = [choice.get("finish_reason") for choice in choices or [] if isinstance(choice, dict)]
    return [reason for reason in reasons if reason is not None]


@dataclass(frozen=True)
class Stream:
    """An event stream: its events, and whether something after the last one was left unfinished."""

    events: tuple[Event, ...]
    unfinished: bool

    @property
    def chunks(self) -> list[dict[str, Any]]:
        """The events that are JSON objects, in order."""
        return [chunk for event in self.events if isinstance(chunk := event.json(), dict)]

    @property
    def choices(self) -> list[dict[str, Any]]:
        """The choices of all chunks, in order."""
        lists = [chunk.get("choices") for chunk in self.chunks]
        return [choice for some in lists if isinstance(some, list) for choice in some if isinstance(choice, dict)]

    @property
    def text(self) -> str:
        """The joined content of all deltas."""
        deltas = [choice.get("delta") for choice in self.choices]
        contents = [delta.get("content") for delta in deltas if isinstance(delta, dict)]
        return "".join(content for content in contents if isinstance(content, str))


def stream_of(exchange: Exchange) -> Stream:
    """The answer read as an event stream."""
    parser = Parser()
    events = tuple(parser.feed(exchange.body))
    return Stream(events, parser.pending)


def prompts_in(exchanges: Iterable[Exchange]) -> list[Exchange]:
    """The exchanges with opencode that prompt a session and so drive a turn."""
    return [exchange for exchange in exchanges if _is_prompt(exchange.request)]


def work_in(exchanges: Iterable[Exchange]) -> list[Exchange]:
    """The exchanges with opencode that make it work: not looking at it, nor ending a turn of an earlier request."""
    return [e for e in exchanges if e.request.method == "POST" and not e.request.path.endswith("/abort")]


def _is_prompt(request: Request) -> bool:
    if request.method != "POST" or not _PROMPT.fullmatch(request.path):
        return False
    body = request.json()
    return not (isinstance(body, dict) and body.get("noReply") is True)
