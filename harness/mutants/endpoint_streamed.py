"""Endpoints that stream a turn by a way of its own, on which something was forgotten."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, Mapping
from contextvars import ContextVar
from typing import Any

from harness.mutants.mutant import Mutant, changing
from harness.reference.endpoint.agents import Model
from harness.reference.endpoint.driver import Drive, Say, Why, abort_turn, keep_deadline, new_session
from harness.reference.endpoint.envelope import Refusal, turn_failed
from harness.reference.endpoint.opencode import Opencode
from harness.reference.endpoint.parts import Parts
from harness.reference.endpoint.prompt import Prompt
from harness.reference.endpoint.stream import ChunkStream
from harness.reference.endpoint.turn import Delta, Failure, Outcome, Reply, Step, Turn, Usage
from harness.reference.endpoint.turn import _Part as Part

RunTurn = Callable[[Model, Drive, Say | None], Awaitable[Outcome]]

_streamed: ContextVar[bool] = ContextVar("streamed", default=False)


async def _note_streamed(_model: Model, drive: Drive, say: Say | None) -> Outcome:
    _streamed.set(say is not None)
    return await drive(say)


def _ends_well(reason: str, begun_only: bool = False) -> RunTurn:
    """A stream whose turn fails for such a reason ends as one whose turn went well."""

    async def run(_model: Model, drive: Drive, say: Say | None) -> Outcome:
        if say is None:
            return await drive(None)
        begun = asyncio.Event()
        outcome = await drive(_noting(begun, say))
        forgotten = isinstance(outcome, Failure) and re.search(reason, outcome.reason)
        return Reply("", "stop", Usage(0, 0)) if forgotten and (begun.is_set() or not begun_only) else outcome

    return run


def _noting(begun: asyncio.Event, say: Say) -> Say:
    async def say_and_note(text: str) -> None:
        begun.set()
        await say(text)

    return say_and_note


async def _deaf_until_begun(_model: Model, drive: Drive, say: Say | None) -> Outcome:
    """That the client has left a stream is noticed once it has begun."""
    if say is None:
        return await drive(None)
    begun = asyncio.Event()
    driving = asyncio.ensure_future(drive(_noting(begun, say)))
    try:
        return await asyncio.shield(driving)
    except asyncio.CancelledError:
        if begun.is_set():
            driving.cancel()
            await asyncio.gather(driving, return_exceptions=True)
        raise


def _keep_until_first_word(limit: asyncio.Timeout, deadline: float, turn: Turn) -> None:
    keep_deadline(limit, deadline, turn)
    if _streamed.get() and any(part.spoken for part in turn._parts.values()):
        limit.reschedule(None)


async def _abort_but_late_streams(opencode: Opencode, turn: Turn, why: Why) -> None:
    if not (_streamed.get() and why == "deadline"):
        await abort_turn(opencode, turn, why)


def _tell_streams(failure: Failure) -> Refusal:
    refusal = turn_failed(failure)
    if _streamed.get():
        refusal.message = f"The upstream failed: {failure.reason}"
    return refusal


class _Opening(str):
    """The first piece of a message."""


class _MarksMessages(Turn):
    """Says of a piece when it is the first of its message."""

    def _speak(self, part: Part) -> list[Step]:
        steps = super()._speak(part)
        opened = getattr(self, "_opened", set[str]())
        self._opened = opened | ({part.message} if steps else set())
        new = part.message not in opened
        return [Delta(_Opening(step.text)) if new and isinstance(step, Delta) else step for step in steps]


class _RolePerMessage(ChunkStream):
    async def write(self, text: str) -> None:
        if self.started and isinstance(text, _Opening):
            await self._put(self._chunk({"role": "assistant", "content": text}))
        else:
            await super().write(text)


def _same_question_same_session() -> Any:
    sessions: dict[Prompt, str] = {}

    async def session_for(opencode: Opencode, options: Mapping[str, Any], prompt: Prompt) -> str:
        if not _streamed.get():
            return await new_session(opencode, options, prompt)
        if prompt not in sessions:
            sessions[prompt] = await new_session(opencode, options, prompt)
        return sessions[prompt]

    return session_for


STREAMED: tuple[Mutant[Parts], ...] = (
    changing(
        "lost_events_end_stream",
        "ends a stream that has begun as a good one when opencode's events end",
        *("AE-FAULT-4", "AE-STREAM-5"),
        run_turn=_ends_well("event", begun_only=True),
    ),
    changing(
        "unreached_is_empty_stream",
        "streams nothing, and a good end, when no turn could be begun",
        *("AE-FAULT-1", "AE-FAULT-2", "AE-STREAM-5"),
        run_turn=_ends_well("POST /session|prompt_async|no id"),
    ),
    changing(
        "idle_ends_stream",
        "ends a stream as a good one at idle, whatever the last message is",
        *("AE-REPLY-2", "AE-STREAM-5"),
        run_turn=_ends_well("^idle"),
    ),
    changing(
        "aborted_ends_stream",
        "ends a stream as a good one when the message was aborted or too long",
        *("AE-FAULT-3", "AE-FAULT-10", "AE-STREAM-5"),
        run_turn=_ends_well("session.error Message(Aborted|OutputLength)Error"),
    ),
    changing(
        "deadline_until_first_word",
        "keeps the deadline of a stream until its first word",
        "AE-FAULT-5",
        run_turn=_note_streamed,
        keep_time=_keep_until_first_word,
    ),
    changing(
        "late_stream_without_abort",
        "lets the turn of a late stream go on",
        "AE-FAULT-6",
        run_turn=_note_streamed,
        give_up=_abort_but_late_streams,
    ),
    changing(
        "deaf_until_begun",
        "does not notice that a client leaves before the first word of its stream",
        "AE-FAULT-6",
        run_turn=_deaf_until_begun,
    ),
    changing(
        "streams_tell_why",
        "tells in a stream why the turn failed",
        "AE-FAULT-8",
        run_turn=_note_streamed,
        turn_failed=_tell_streams,
    ),
    changing(
        "role_per_message",
        "says the role again with each message of a turn",
        "AE-STREAM-3",
        make_turn=_MarksMessages,
        make_stream=_RolePerMessage,
    ),
    changing(
        "stream_session_by_question",
        "reuses sessions for streams",
        "AE-TURN-1",
        run_turn=_note_streamed,
        new_session=_same_question_same_session(),
    ),
)
