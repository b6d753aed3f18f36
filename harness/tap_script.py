"""What a tap does to passing traffic, as rules that are JSON: replies in the far side's stead, and faults."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from harness.exchange import Chunk, Request
from harness.fakes.plan import Ending, Plan
from harness.sse import Event, encode

SESSION = "{session}"
"""Replaced, in replies and events, by the id of the session at hand: the last one created, where none is named."""

USER = "{user}"
"""Replaced, in events, by the id of the session's last user message."""

ASSISTANT = "{assistant}"
"""Replaced, in events, by the id of the session's last assistant message."""

StreamEnd = Literal["complete", "cut", "reset"]
"""How a stream is ended early: as if it were whole, by closing its connection, or by resetting it."""

_EVENT_PATHS = ("/event", "/global/event")


@dataclass(frozen=True)
class Reply:
    """Answer the first `times` requests of `method` whose path matches the regular expression `path`.

    `body` is a JSON value, or the text itself where `media` is another type than JSON. Without a `status` nothing is
    said before the `ending`; an answer that ends otherwise than complete is in chunked framing, its last chunk missing.
    """

    method: str
    path: str
    status: int | None
    body: Any
    times: int = 1
    media: str = "application/json"
    ending: Ending = "complete"

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
            "media": self.media,
            "ending": self.ending,
        }

    def plan(self, session: str) -> Plan:
        """The answer, with `session` filled in."""
        text = json.dumps(self.body, ensure_ascii=False) if self.media == "application/json" else str(self.body)
        body = Chunk(0.0, _fill(text, {SESSION: session}).encode())
        pieces = () if self.status is None else (body,)
        streamed = self.ending != "complete"
        return Plan(self.status, (("content-type", self.media),), pieces, streamed, self.ending, "reply")


@dataclass(frozen=True)
class After:
    """The first `times` events of a type, of `status` where given, whose properties are as `where` says by path."""

    after: str
    status: str | None = field(default=None, kw_only=True)
    where: Mapping[str, Any] = field(default_factory=dict, kw_only=True)
    times: int = field(default=1, kw_only=True)

    def matches(self, event: dict[str, Any]) -> bool:
        """Whether `event`, opencode's `{type, properties}`, is what the rule waits for."""
        wanted = {**self.where, **({} if self.status is None else {"status.type": self.status})}
        properties = event.get("properties")
        return event.get("type") == self.after and all(_at(properties, path) == value for path, value in wanted.items())

    def to_json(self) -> dict[str, Any]:
        """The condition as a JSON object, for the record of the run."""
        return {"after": self.after, "status": self.status, "where": dict(self.where), "times": self.times}


@dataclass(frozen=True)
class Inject(After):
    """Slip `events` in right after an event; one that is a string is sent as an event's data, as it is."""

    events: tuple[dict[str, Any] | str, ...]

    def to_json(self) -> dict[str, Any]:
        """The rule as a JSON object, for the record of the run."""
        return {"inject": list(self.events), **super().to_json()}


@dataclass(frozen=True)
class Break(After):
    """End the stream right after an event."""

    ending: StreamEnd

    def to_json(self) -> dict[str, Any]:
        """The rule as a JSON object, for the record of the run."""
        return {"break": self.ending, **super().to_json()}


@dataclass(frozen=True)
class Split:
    """Cut answers apart in the middle of every character that is more than one byte, `pause` seconds after each."""

    pause: float

    def to_json(self) -> dict[str, Any]:
        """The rule as a JSON object, for the record of the run."""
        return {"split": self.pause}


@dataclass(frozen=True)
class Refuse:
    """Refuse connections: nobody listens, and those there were are gone."""

    def to_json(self) -> dict[str, Any]:
        """The rule as a JSON object, for the record of the run."""
        return {"refuse": True}


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


TapRule = Reply | Inject | Break | Split | Refuse | Delay


def rule_from_json(value: Mapping[str, Any]) -> TapRule:
    """The rule whose `to_json` is `value`; raises ValueError when there is no such kind of rule."""
    match dict(value):
        case {"reply": [method, path], **rest}:
            return Reply(method, path, **rest)
        case {"inject": events, **rest}:
            return Inject(events=tuple(events), **rest)
        case {"break": ending, **rest}:
            return Break(ending=ending, **rest)
        case {"split": pause}:
            return Split(pause)
        case {"refuse": True}:
            return Refuse()
        case {"delay": [method, path], **rest}:
            return Delay(method, path, **rest)
    raise ValueError(f"no rule of the tap is like {value!r}")


@dataclass(frozen=True)
class Interference:
    """What follows an event: bytes to slip in after it, and how the stream ends then, if it does."""

    extra: bytes = b""
    ending: StreamEnd | None = None


class TapScript:
    """The rules in force. Used on the event loop's thread but for `replace`, which swaps them whole."""

    def __init__(self) -> None:
        self._state: tuple[tuple[TapRule, ...], Counter[int]] = (), Counter()
        self._session = ""
        self._messages: dict[str, dict[str, str]] = {}

    def replace(self, rules: Iterable[TapRule]) -> None:
        """Put these rules in force, unused."""
        self._state = tuple(rules), Counter()
        self._messages = {}

    @property
    def refuses(self) -> bool:
        """Whether connections are to be refused."""
        return any(isinstance(rule, Refuse) for rule in self._state[0])

    @property
    def pause(self) -> float | None:
        """Seconds between the packets that characters are cut into; None where they are left whole."""
        return next((rule.pause for rule in self._state[0] if isinstance(rule, Split)), None)

    def reply(self, request: Request) -> Plan | None:
        """What to answer with in the far side's stead, or None to let the request pass."""
        rules, used = self._state
        for index, rule in enumerate(rules):
            if isinstance(rule, Reply) and rule.matches(request) and used[index] < rule.times:
                used[index] += 1
                session = re.search(r"/session/([^/]+)", request.path)
                return rule.plan(session.group(1) if session else "")
        return None

    def created(self, session: Any) -> None:
        """Take note of a session that was just created, as the far side describes it."""
        self._session = str(_at(session, "id") or "")

    def delay(self, request: Request) -> float:
        """How many seconds the request waits before it is passed on; 0 for most."""
        rules, used = self._state
        for index, rule in enumerate(rules):
            if isinstance(rule, Delay) and rule.matches(request) and used[index] < rule.times:
                used[index] += 1
                return rule.seconds
        return 0.0

    def after(self, event: Event) -> Interference:
        """What follows `event`; nothing does for most."""
        if not any(isinstance(rule, After) for rule in self._state[0]):
            return Interference()
        payload = event.json()
        if not isinstance(payload, dict):
            return Interference()
        wrapped = isinstance(payload.get("payload"), dict)
        inner = payload["payload"] if wrapped else payload
        fillings = self._note(inner)
        extra: bytes = b""
        ending: StreamEnd | None = None
        rules, used = self._state
        for index, rule in enumerate(rules):
            if not isinstance(rule, After) or used[index] >= rule.times or not rule.matches(inner):
                continue
            used[index] += 1
            if isinstance(rule, Break):
                ending = rule.ending
            elif isinstance(rule, Inject):
                extra += b"".join(_encode(each, fillings, payload if wrapped else None) for each in rule.events)
        return Interference(extra, ending)

    def _note(self, event: dict[str, Any]) -> dict[str, str]:
        """What the placeholders stand for at `event`."""
        properties = event.get("properties")
        session = str(_at(properties, "sessionID") or self._session)
        messages = self._messages.setdefault(session, {})
        if event.get("type") == "message.updated":
            messages[f"{{{_at(properties, 'info.role')}}}"] = str(_at(properties, "info.id"))
        return {SESSION: session, USER: "", ASSISTANT: "", **messages}


def is_event_stream(request: Request) -> bool:
    """Whether `request` subscribes to opencode's events."""
    return request.method == "GET" and request.path in _EVENT_PATHS


def _encode(event: dict[str, Any] | str, fillings: Mapping[str, str], wrapping: dict[str, Any] | None) -> bytes:
    """An event as it is sent, wrapped as those of the global stream are where `wrapping` is one of them."""
    if isinstance(event, str):
        return f"data: {event}\n\n".encode()
    filled = json.loads(_fill(json.dumps(event, ensure_ascii=False), fillings))
    return encode(filled if wrapping is None else {**wrapping, "payload": filled})


def _at(value: Any, path: str) -> Any:
    """What is at a path of names joined by dots; None where there is nothing."""
    for name in path.split("."):
        value = value.get(name) if isinstance(value, dict) else None
    return value


def _fill(text: str, fillings: Mapping[str, str]) -> str:
    for placeholder, value in fillings.items():
        text = text.replace(placeholder, json.dumps(value)[1:-1])
    return text
