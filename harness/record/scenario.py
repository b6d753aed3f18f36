"""A scenario: what is done to an opencode server for a recording; one per fact, each in sessions of its own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from harness.fakes.model.script import Answer, ToolCall
from harness.record.stage import Event, Stage

Play = Callable[[Stage], None]

OVERFLOW = Answer(
    status=400,
    message="This model's maximum context length is 8192 tokens. However, you requested 10000 tokens "
    "(9000 in the messages, 1000 in the completion). Please reduce the length of the messages or completion.",
)
HANG = Answer(fault="hang")
HALF = Answer("half of an answer", fault="hang_after_text")
WITH_BODY = ("POST", "PUT")
OUTSIDE = ToolCall("read", '{"filePath": "/etc/hostname"}')
ECHO = ToolCall("bash", '{"command": "echo hi", "description": "says hi"}')
ASKING = [{"permission": "*", "pattern": "*", "action": "ask"}]


@dataclass(frozen=True)
class Scenario:
    """A named row of what is recorded."""

    name: str
    about: str
    play: Play


SCENARIOS: list[Scenario] = []
"""Those of the modules of `harness.record.scenes` that have been imported."""


def scenario(play: Play) -> Play:
    """Make a scenario of a function; its docstring says what it is about."""
    SCENARIOS.append(Scenario(play.__name__, str(play.__doc__).removesuffix("."), play))
    return play


def is_event(kind: str, session: str | None = None) -> Callable[[Event], bool]:
    """Whether an event is of a kind (and of a session)."""
    return lambda e: e["type"] == kind and (session is None or e["properties"].get("sessionID") == session)


def is_status(status: str) -> Callable[[Event], bool]:
    """Whether an event tells that status of a session."""
    return lambda e: e["type"] == "session.status" and e["properties"]["status"]["type"] == status


def is_delta(event: Event) -> bool:
    """Whether an event is a piece of a part."""
    return bool(event["type"] == "message.part.delta")


def turn_of(stage: Stage, *answers: Answer, text: str = "hello", listing: bool = True) -> str:
    """A whole turn in which the model says `answers`: its session, whose messages are listed unless not wanted."""
    heard = stage.listen()
    session = stage.session()
    stage.model_says(*answers)
    stage.prompt(session, text)
    stage.idle(heard, session)
    if listing:
        stage.call("GET", f"/session/{session}/message")
    return session
