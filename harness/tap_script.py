"""What a tap does to passing traffic: replies given in the far side's stead, events slipped into streams."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from harness.exchange import Request
from harness.sse import Event, encode

SESSION = "{session}"
"""Replaced, in replies and events, by the id of the session at hand."""

_EVENT_PATHS = ("/event", "/global/event")


@dataclass(frozen=True)
class Reply:
    """Answer the first `times` requests of `method` whose path matches the regular expression `path`."""

    method: str
    path: str
    status: int
    body: Any
    times: int = 1

    def matches(self, request: Request) -> bool:
        """Whether the rule speaks of `request`."""
        return request.method == self.method and re.fullmatch(self.path, request.path) is not None

    def to_json(self) -> dict[str, Any]:
        """The rule as a JSON object, for the record of the run."""
        return {
            "reply": [self.method, self.path],
            "status": self.status,
            "body": self.body,
            "times": self.times,
        }


@dataclass(frozen=True)
class Inject:
    """Slip `events` in right after the first `times` events of type `after` (and of `status`, when given)."""

    after: str
    events: tuple[dict[str, Any], ...]
    status: str | None = None
    times: int = 1

    def matches(self, event: dict[str, Any]) -> bool:
        """Whether `event`, opencode's `{type, properties}`, is what the rule waits for."""
        status = _properties(event).get("status")
        return event.get("type") == self.after and (
            self.status is None or (isinstance(status, dict) and status.get("type") == self.status)
        )

    def to_json(self) -> dict[str, Any]:
        """The rule as a JSON object, for the record of the run."""
        return {"inject": list(self.events), "after": self.after, "status": self.status, "times": self.times}


@dataclass(frozen=True)
class Delay:
    """Let the first `times` requests of `method` whose path matches `path` wait so many seconds on their way."""

    method: str
    path: str
    seconds: float
    times: int = 1

    def matches(self, request: Request) -> bool:
        """Whether the rule speaks of `request`."""
        return request.method == self.method and re.fullmatch(self.path, request.path) is not None

    def to_json(self) -> dict[str, Any]:
        """The rule as a JSON object, for the record of the run."""
        return {"delay": [self.method, self.path], "seconds": self.seconds, "times": self.times}


TapRule = Reply | Inject | Delay


class TapScript:
    """The rules in force. Used on the event loop's thread but for `replace`, which swaps them whole."""

    def __init__(self) -> None:
        self._state: tuple[tuple[TapRule, ...], Counter[int]] = (), Counter()

    def replace(self, rules: Iterable[TapRule]) -> None:
        """Put these rules in force, unused."""
        self._state = tuple(rules), Counter()

    def reply(self, request: Request) -> tuple[int, bytes] | None:
        """Status and body to answer with in the far side's stead, or None to let the request pass."""
        rules, used = self._state
        for index, rule in enumerate(rules):
            if isinstance(rule, Reply) and rule.matches(request) and used[index] < rule.times:
                used[index] += 1
                session = re.search(r"/session/([^/]+)", request.path)
                return rule.status, _fill(rule.body, session.group(1) if session else "")
        return None

    def delay(self, request: Request) -> float:
        """How many seconds the request waits before it is passed on; 0 for most."""
        rules, used = self._state
        for index, rule in enumerate(rules):
            if isinstance(rule, Delay) and rule.matches(request) and used[index] < rule.times:
                used[index] += 1
                return rule.seconds
        return 0.0

    def events_after(self, event: Event) -> bytes:
        """What to slip in after `event`, encoded; empty for most."""
        payload = event.json()
        if not isinstance(payload, dict):
            return b""
        wrapped = isinstance(payload.get("payload"), dict)
        inner = payload["payload"] if wrapped else payload
        slipped = b""
        rules, used = self._state
        for index, rule in enumerate(rules):
            if isinstance(rule, Inject) and rule.matches(inner) and used[index] < rule.times:
                used[index] += 1
                session = str(_properties(inner).get("sessionID", ""))
                for extra in rule.events:
                    filled = json.loads(_fill(extra, session))
                    slipped += encode({**payload, "payload": filled} if wrapped else filled)
        return slipped


def is_event_stream(request: Request) -> bool:
    """Whether `request` subscribes to opencode's events."""
    return request.method == "GET" and request.path in _EVENT_PATHS


def _properties(event: dict[str, Any]) -> dict[str, Any]:
    properties = event.get("properties")
    return properties if isinstance(properties, dict) else {}


def _fill(value: Any, session: str) -> bytes:
    return json.dumps(value, ensure_ascii=False).replace(SESSION, json.dumps(session)[1:-1]).encode()
