"""A turn, as opencode's events tell it: a state machine without I/O.

It is fed every event of the stream, in order, and says what follows from each. Rules that are not obvious:

- Deltas of reasoning carry the field `text` too: only the part's type tells them apart.
- Each step of a turn is a message of its own; the answer is the last assistant message, if it is final.
- A retry leaves the text of the abandoned attempt in parts of its own, in the same message.
- Idle alone is not success, and idle before the turn has begun is not about it.
- A context overflow may be mended by a compaction, whose summary is an assistant message but not the answer.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal

_FINISH = {"stop": "stop", "length": "length", "content-filter": "content_filter", "other": "stop"}
_OVERFLOW = "ContextOverflowError"


@dataclass(frozen=True)
class Usage:
    """Tokens of a turn's steps, as the OpenAI API counts them."""

    prompt: int
    completion: int


@dataclass(frozen=True)
class Delta:
    """A piece of an assistant message."""

    text: str


@dataclass(frozen=True)
class Retracted:
    """Text of earlier deltas turned out to be of an abandoned attempt."""


@dataclass(frozen=True)
class Question:
    """The agent asks something that nobody is there to answer."""

    kind: Literal["permission", "question"]
    id: str


@dataclass(frozen=True)
class Reply:
    """The turn is over, with an answer; `finish` is a finish reason of the OpenAI API."""

    text: str
    finish: str
    usage: Usage


@dataclass(frozen=True)
class Failure:
    """The turn is over without an answer; `reason` is for the log, not for clients."""

    reason: str


Outcome = Reply | Failure
Step = Delta | Retracted | Question | Reply | Failure


@dataclass
class _Message:
    role: str = ""
    summary: bool = False
    finish: str | None = None
    failed: bool = False


@dataclass
class _Part:
    message: str
    type: str = ""
    spoken: list[str] = field(default_factory=list)
    waiting: list[str] = field(default_factory=list)
    abandoned: bool = False


class Turn:
    """The turn of one session."""

    def __init__(self, session: str) -> None:
        self.session = session
        self.family = {session}
        """The session and its descendants."""
        self._messages: dict[str, _Message] = {}
        self._parts: dict[str, _Part] = {}
        self._tokens: dict[str, tuple[str, Usage]] = {}
        self._begun = self._overflowed = self._recovering = False
        self._handlers: dict[str, Callable[[dict[str, Any]], list[Step]]] = {
            "session.status": self._on_status,
            "session.idle": self._on_idle,
            "session.error": self._on_error,
            "session.deleted": lambda _: [Failure("the session was deleted")],
            "message.updated": self._on_message,
            "message.part.updated": self._on_part,
            "message.part.delta": self._on_delta,
        }

    @property
    def doubtful(self) -> bool:
        """Whether an error was seen that could still be mended, and nothing has begun to mend it."""
        return self._overflowed and not self._recovering

    def feed(self, event: dict[str, Any]) -> list[Step]:
        """What follows from `event`; a reply or failure, always last, ends the turn."""
        kind, properties = event.get("type"), _object(event.get("properties"))
        session = properties.get("sessionID")
        if kind == "session.created" and _object(properties.get("info")).get("parentID") in self.family:
            self.family.add(_string(session))
        if kind == "permission.asked" and session in self.family:
            return [Question("permission", _string(properties.get("id")))]
        if kind == "question.asked" and session in self.family:
            return [Question("question", _string(properties.get("id")))]
        handler = self._handlers.get(_string(kind))
        return handler(properties) if handler is not None and session == self.session else []

    def _on_status(self, properties: dict[str, Any]) -> list[Step]:
        status = _object(properties.get("status")).get("type")
        if status == "idle":
            return self._on_idle(properties)
        self._begun = True
        return self._abandon() if status == "retry" else []

    def _on_idle(self, properties: dict[str, Any]) -> list[Step]:
        return [self._outcome()] if self._begun else []

    def _on_error(self, properties: dict[str, Any]) -> list[Step]:
        name = _string(_object(properties.get("error")).get("name"))
        if name != _OVERFLOW or self._overflowed:
            return [Failure(f"session.error {name}")]
        self._overflowed = True
        return self._abandon()

    def _on_message(self, properties: dict[str, Any]) -> list[Step]:
        info = _object(properties.get("info"))
        message_id = _string(info.get("id"))
        message = self._messages.setdefault(message_id, _Message())
        message.role = _string(info.get("role"))
        assistant = message.role == "assistant"
        message.summary = assistant and (info.get("mode") == "compaction" or bool(info.get("summary")))
        message.finish = _string(info.get("finish")) or None
        message.failed = bool(info.get("error"))
        self._begun |= assistant
        self._recovering |= message.summary
        return [step for part in self._parts_of(message_id) for step in self._speak(part)]

    def _on_part(self, properties: dict[str, Any]) -> list[Step]:
        info = _object(properties.get("part"))
        part_id, message_id = _string(info.get("id")), _string(info.get("messageID"))
        part = self._parts.setdefault(part_id, _Part(message_id))
        part.type = _string(info.get("type"))
        if part.type == "compaction":
            self._recovering = True
        if part.type == "step-finish":
            self._tokens[part_id] = message_id, _usage(_object(info.get("tokens")))
        if part.type != "text":
            return []
        ended = "end" in _object(info.get("time"))
        return self._settle(part, _string(info.get("text")), ended) + self._speak(part)

    def _on_delta(self, properties: dict[str, Any]) -> list[Step]:
        if properties.get("field") != "text":
            return []
        part_id, message_id = _string(properties.get("partID")), _string(properties.get("messageID"))
        part = self._parts.setdefault(part_id, _Part(message_id))
        part.waiting.append(_string(properties.get("delta")))
        return self._speak(part)

    def _settle(self, part: _Part, text: str, ended: bool) -> list[Step]:
        """Take a part's whole text; it is binding once the part has ended, until then deltas may be ahead of it."""
        if not ended and not text:
            return []
        spoken = "".join(part.spoken)
        if text.startswith(spoken):
            part.waiting = [text[len(spoken) :]]
            return []
        part.spoken, part.waiting = [], [text]
        return [Retracted()]

    def _speak(self, part: _Part) -> list[Step]:
        """Hand out what waits in a part, once it is known to be an answer's."""
        message = self._messages.get(part.message)
        if part.type != "text" or part.abandoned or message is None or not self._answers(message):
            return []
        text = "".join(part.waiting)
        part.waiting = []
        if not text:
            return []
        part.spoken.append(text)
        return [Delta(text)]

    def _abandon(self) -> list[Step]:
        """Void the text of the attempt under way."""
        unfinished = [part for part in self._parts.values() if not self._is_finished(part.message)]
        spoken = any(part.spoken for part in unfinished if not part.abandoned)
        for part in unfinished:
            part.abandoned = True
        return [Retracted()] if spoken else []

    def _outcome(self) -> Outcome:
        answers = [key for key, message in self._messages.items() if self._answers(message)]
        if not answers:
            return Failure("idle without an assistant message")
        message = self._messages[answers[-1]]
        if message.failed or message.finish not in _FINISH:
            return Failure(f"idle after a message with finish {message.finish}")
        return Reply(self._text(answers[-1]), _FINISH[message.finish], self._usage())

    def _answers(self, message: _Message) -> bool:
        return message.role == "assistant" and not message.summary

    def _is_finished(self, message_id: str) -> bool:
        message = self._messages.get(message_id)
        return message is not None and message.finish is not None

    def _parts_of(self, message_id: str) -> list[_Part]:
        return [part for part in self._parts.values() if part.message == message_id]

    def _text(self, message_id: str) -> str:
        parts = [part for part in self._parts_of(message_id) if part.type == "text" and not part.abandoned]
        return "".join("".join(part.spoken + part.waiting) for part in parts)

    def _usage(self) -> Usage:
        steps = [usage for key, usage in self._tokens.values() if self._answers(self._messages.get(key, _Message()))]
        return Usage(sum(step.prompt for step in steps), sum(step.completion for step in steps))


def _usage(tokens: dict[str, Any]) -> Usage:
    cache = _object(tokens.get("cache"))
    prompt = _count(tokens.get("input")) + _count(cache.get("read")) + _count(cache.get("write"))
    return Usage(prompt, _count(tokens.get("output")) + _count(tokens.get("reasoning")))


def _object(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _string(value: object) -> str:
    return value if isinstance(value, str) else ""


def _count(value: object) -> int:
    return int(value) if isinstance(value, int | float) else 0
