"""What a version of opencode does, where it could do otherwise, each in a place of its own.

Every field defaults to what 1.18.33 was seen to do; a stand-in with a flaw is `dataclasses.replace` of one of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from harness.exchange import Request
from harness.fakes.opencode.answers import Answer
from harness.fakes.opencode.retry import is_overflow, passes, retry_seconds
from harness.sse import encode

Event = dict[str, Any]


def _as_it_is(event: Event) -> Iterable[Event]:
    return (event,)


def _as_sent(request: Request) -> Request:
    return request


def _at_once(_request: Request) -> float:
    return 0.0


def _same(_request: Request, answer: Answer) -> Answer:
    return answer


def _same_call(body: dict[str, Any]) -> dict[str, Any]:
    return body


def _envelope(directory: str, event: Event) -> Event:
    return {"directory": directory, "project": "global", "payload": event}


def _as_told(message: dict[str, Any]) -> dict[str, Any]:
    return message


def _asks_for_options(request: Request) -> bool:
    return request.method == "OPTIONS"


def _as_configured(config: Mapping[str, Any]) -> Mapping[str, Any]:
    return config


_FINISH = {
    "stop": "stop",
    "length": "length",
    "content_filter": "content-filter",
    "tool_calls": "tool-calls",
    "function_call": "tool-calls",
}


def finish(reason: str | None) -> str:
    """How a step finishes for which the model gave that reason."""
    return _FINISH.get(reason or "", "unknown")


def _overflows(_status: int, message: str) -> bool:
    return is_overflow(message)


def _retries(status: int) -> bool:
    return status in (408, 409, 429) or status >= 500


@dataclass(frozen=True)
class Behaviour:
    """Times are in seconds; `preparing` passes between a prompt and its turn's first sign, and `settling` before the
    tools of an aborted turn are given up. The requests `open_to_all` need no password, a request is taken for what
    `takes` makes of it, and its answer comes `late` by so much.

    `event` says what is sent for an event of the core, `envelope` how it looks on the stream of all directories,
    `encode` how it goes over the wire, `answer` what is sent for an answer, `model_call` what body a model call
    has. It goes by what is `obeyed` of its configuration, and by no more. What it `keeps` of a message is what a
    restarted server finds. A call is tried again at most `max_retries` times, for the statuses of `retries` and the
    error types of `retried_types`, and for an
    error in a stream that `tries_again` says is one to pass.
    """

    version: str = "1.18.33"
    open_to_all: Callable[[Request], bool] = _asks_for_options
    obeys_username: bool = True
    ends_at_sigterm: bool = True
    heartbeat: float = 10.0
    preparing: float = 0.02
    settling: float = 0.25
    max_retries: int = 5
    retry_after: Callable[[int, dict[str, str]], float] = retry_seconds
    retries: Callable[[int], bool] = _retries
    tries_again: Callable[[dict[str, Any]], bool] = passes
    overflows: Callable[[int, str], bool] = _overflows
    retried_types: frozenset[str] = frozenset({"server_error"})
    finish: Callable[[str | None], str] = finish
    goes_on_after_tools: bool = True
    goes_on_after: frozenset[str] = frozenset({"tool-calls", "unknown"})
    takes: Callable[[Request], Request] = _as_sent
    late: Callable[[Request], float] = _at_once
    event: Callable[[Event], Iterable[Event]] = _as_it_is
    envelope: Callable[[str, Event], Event] = _envelope
    encode: Callable[[Event], bytes] = encode
    answer: Callable[[Request, Answer], Answer] = _same
    model_call: Callable[[dict[str, Any]], dict[str, Any]] = _same_call
    keeps: Callable[[dict[str, Any]], dict[str, Any]] = _as_told
    obeyed: Callable[[Mapping[str, Any]], Mapping[str, Any]] = _as_configured
    takes_comments: bool = True
    knows_options: bool = True
    fills_head: bool = False
    refuses_all: bool = True
    remembers_always: bool = True
    per_directory: bool = True
    replays: bool = False
    newest_ear_only: bool = False
    asks_per_directory: bool = True
    queues: bool = True
    obeys_no_reply: bool = True
    aborts_early: bool = True
    aborts_children: bool = True
    leaving_aborts: bool = False
