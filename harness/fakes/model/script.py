"""What the fake model server will answer: written by a check, chosen by the nonce in the prompt."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any, Literal

from harness.exchange import Exchange
from harness.fakes.plan import Gate

Fault = Literal["hang", "hang_after_text", "cut", "reset", "bad_chunk", "error_chunk", "no_done"]
"""What goes wrong on purpose.

`hang`: accept and say nothing; `hang_after_text`: stop in the middle; `cut`, `reset`: end the connection after the
text; `bad_chunk`: an event that is not JSON; `error_chunk`: an error object, of the answer's `error_type`, after the
text; `no_done`: no terminator.
An answer that is not streamed breaks off, or stops, in the middle of its JSON; `error_chunk` makes it a 500.
"""

CallKind = Literal["turn", "title", "summary"]
"""What opencode wants of a model call. Titles and summaries of compactions are not steps of a turn."""


@dataclass(frozen=True)
class ToolCall:
    """A tool that the model asks for; `arguments` is JSON text, or what a bad model takes for it."""

    name: str
    arguments: str = "{}"


@dataclass(frozen=True)
class Usage:
    """Tokens of a completion as the API counts them: `reasoning` is a part of `completion`, `cached` of `prompt`."""

    prompt: int
    completion: int
    reasoning: int = 0
    cached: int = 0


@dataclass(frozen=True)
class Answer:
    """One completion. A `status` other than 200 answers with the error `message`, of type `error_type`, instead.

    `text` and `reasoning` are streamed in pieces of `piece` characters, `pause` seconds apart; `tool_calls` follow
    them. `finish` None leaves the finish reason out. `usage` None counts characters. What comes after the first piece
    waits until the gate of the name `gate` is opened; a nonce makes a name that is no other check's.
    """

    text: str = "ok"
    reasoning: str = ""
    reasoning_field: str = "reasoning_content"
    tool_calls: tuple[ToolCall, ...] = ()
    usage: Usage | None = None
    finish: str | None = "stop"
    piece: int = 12
    pause: float = 0.0
    status: int = 200
    message: str = ""
    error_type: str | None = None
    headers: tuple[tuple[str, str], ...] = ()
    fault: Fault | None = None
    gate: str | None = None

    def to_json(self) -> dict[str, Any]:
        """The answer as a JSON object, for the record of the run."""
        calls = [asdict(call) for call in self.tool_calls]
        return {**asdict(self), "headers": [list(pair) for pair in self.headers], "tool_calls": calls}

    @staticmethod
    def from_json(value: dict[str, Any]) -> Answer:
        """The inverse of `to_json`."""
        parts = {
            "headers": tuple((name, text) for name, text in value["headers"]),
            "tool_calls": tuple(ToolCall(**call) for call in value["tool_calls"]),
            "usage": Usage(**value["usage"]) if value["usage"] is not None else None,
        }
        return Answer(**{**value, **parts})


TITLE = Answer("A title")
SUMMARY = Answer("A summary of what was said so far")


@dataclass(frozen=True)
class Rule:
    """Prompts that contain `nonce` (any prompt when None) get `steps` in their order, the last one again and again.

    `summary` answers a compaction's call.
    """

    nonce: str | None
    steps: tuple[Answer, ...]
    summary: Answer = SUMMARY

    def to_json(self) -> dict[str, Any]:
        """The rule as a JSON object, for the record of the run."""
        return {
            "nonce": self.nonce,
            "steps": [step.to_json() for step in self.steps],
            "summary": self.summary.to_json(),
        }

    @staticmethod
    def from_json(value: dict[str, Any]) -> Rule:
        """The inverse of `to_json`."""
        steps = tuple(Answer.from_json(step) for step in value["steps"])
        return Rule(value["nonce"], steps, Answer.from_json(value["summary"]))


def text_of(content: Any) -> str:
    """The text of a message's content, given as a string or as a list of parts."""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return "".join(str(part.get("text", "")) for part in content if isinstance(part, dict))
    return ""


def messages_of(body: Any) -> list[tuple[str, str]]:
    """(role, text) of each message of a chat completions request; empty when the body is none."""
    messages = body.get("messages") if isinstance(body, dict) else None
    if not isinstance(messages, list):
        return []
    return [(str(m.get("role")), text_of(m.get("content"))) for m in messages if isinstance(m, dict)]


def told(calls: Iterable[Exchange], word: str) -> bool:
    """Whether a message of one of these chat completions calls holds `word`."""
    return any(word in text for call in calls for _, text in messages_of(call.request.json()))


def call_kind(body: Any) -> CallKind:
    """What a chat completions request of opencode is for, told by its lack of tools and by its texts.

    1.18.33 asks for summaries with a system prompt of their own, 1.18.14 with a last user message.
    """
    if body.get("tools"):
        return "turn"
    messages = messages_of(body)
    system = " ".join(text for role, text in messages if role == "system").lower()
    if "title generator" in system:
        return "title"
    if "summarization agent" in system or any("anchored summary" in text for _, text in messages[-1:]):
        return "summary"
    return "turn"


class Script:
    """The rules in force. `choose` is called on the event loop's thread, `replace` on the check's: a swap, no lock."""

    def __init__(self) -> None:
        self._state: tuple[tuple[Rule, ...], Counter[Rule]] = (), Counter()
        self._gates: defaultdict[str, Gate] = defaultdict(Gate)

    def gate(self, name: str) -> Gate:
        """The gate of that name, closed until it is opened. Called on the event loop's thread."""
        return self._gates[name]

    def replace(self, rules: Iterable[Rule]) -> None:
        """Put these rules in force, with nothing served yet."""
        self._state = tuple(rules), Counter()

    def choose(self, body: Any) -> Answer:
        """The answer to a chat completions request; a prompt that no rule knows gets a plain `ok`."""
        kind = call_kind(body)
        if kind == "title":
            return TITLE
        rules, served = self._state
        rule = _match(rules, body)
        if rule is None:
            return Answer()
        if kind == "summary":
            return rule.summary
        served[rule] += 1
        return rule.steps[min(served[rule], len(rule.steps)) - 1]


def _match(rules: tuple[Rule, ...], body: Any) -> Rule | None:
    prompt = "\n".join(text for _, text in messages_of(body))
    named = (rule for rule in rules if rule.nonce is not None and rule.nonce in prompt)
    default = next((rule for rule in rules if rule.nonce is None), None)
    return next(named, default)
