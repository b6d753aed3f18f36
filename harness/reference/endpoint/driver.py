"""Drives one turn at opencode, from a new session to its outcome, and cleans up behind it."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Literal

from harness.reference.endpoint.agents import Model
from harness.reference.endpoint.opencode import Opencode, OpencodeError
from harness.reference.endpoint.prompt import Prompt
from harness.reference.endpoint.turn import Delta, Failure, Outcome, Question, Reply, Retracted, Step, Turn

if TYPE_CHECKING:
    from harness.reference.endpoint.parts import Parts

Why = Literal["deadline", "gone", "lost", "failed"]
"""Why a turn is given up: it took too long, its client has gone, opencode was lost sight of, or said that it failed."""

Say = Callable[[str], Awaitable[None]]
"""Takes a piece of the answer."""

Drive = Callable[[Say | None], Awaitable[Outcome]]
"""Drives a turn to its outcome."""

RECOVERY_SECONDS = 1.0
"""How long after a context overflow opencode may take to begin its compaction: it does so at once."""

_ABORT_AGAIN_SECONDS = 0.1
_log = logging.getLogger("endpoint")


async def run_once(_model: Model, drive: Drive, say: Say | None) -> Outcome:
    """The outcome of a request's turn: each request drives one, when it comes."""
    return await drive(say)


async def new_session(opencode: Opencode, options: Mapping[str, Any], _prompt: Prompt) -> str:
    """The id of the session for a turn: one of its own, whatever is asked in it."""
    return await opencode.create_session(options)


async def abort_turn(opencode: Opencode, turn: Turn, why: Why) -> None:
    """Abort the turn and those of its child sessions; twice where it may still be under way.

    The first abort may come before opencode has begun, and ending a child lets its parent go on.
    """
    for pause in (0.0,) if why == "failed" else (0.0, _ABORT_AGAIN_SECONDS):
        await asyncio.sleep(pause)
        await opencode.abort(turn.session)
        turn.family.update(await opencode.children(turn.session))
        await asyncio.gather(*(opencode.abort(session) for session in turn.family))


async def reject_question(opencode: Opencode, question: Question, _limit: asyncio.Timeout) -> None:
    """Answer a question with no, since nobody is there; the turn's time limit is not moved by it."""
    await opencode.reject(question)


def keep_deadline(limit: asyncio.Timeout, deadline: float, turn: Turn) -> None:
    """After each event: the turn's deadline stands, and a nearer one while an error could still be mended."""
    if not turn.doubtful:
        limit.reschedule(deadline)
    elif limit.when() == deadline:
        limit.reschedule(min(deadline, asyncio.get_running_loop().time() + RECOVERY_SECONDS))


class Driver:
    """Drives turns, each within `budget` seconds; giving one up takes at most `abort_grace` more."""

    def __init__(self, parts: Parts, budget: float, abort_grace: float) -> None:
        self._parts = parts
        self._budget, self._abort_grace = budget, abort_grace
        self._driving: set[asyncio.Task[Any]] = set()

    async def finish(self) -> None:
        """Wait for turns that were cancelled to be given up: the server stops, and opencode must not go on."""
        if self._driving:
            await asyncio.wait(self._driving, timeout=self._abort_grace)

    async def drive(self, opencode: Opencode, model: Model, prompt: Prompt, say: Say | None = None) -> Outcome:
        """The outcome of a turn at `opencode`; pieces are given to `say` as they are made.

        With `say`, a turn that takes back what was said fails. Cancelling this gives the turn up.
        """
        task = asyncio.current_task()
        assert task is not None
        self._driving.add(task)
        task.add_done_callback(self._driving.discard)
        turn: Turn | None = None
        why: Why | None = "gone"
        try:
            async with asyncio.timeout(self._budget) as limit:
                session = await self._parts.new_session(opencode, self._parts.session_options, prompt)
                turn = self._parts.make_turn(session)
                outcome = await self._follow(opencode, turn, model, prompt, say, limit)
                why = "failed" if isinstance(outcome, Failure) else None
        except TimeoutError:
            why, outcome = "deadline", Failure("no outcome in time")
        except OpencodeError as error:
            why, outcome = "lost", Failure(str(error))
        finally:
            if turn is not None and why is not None:
                await self._give_up(opencode, turn, why)
        if isinstance(outcome, Failure):
            _log.warning("turn failed: %s", outcome.reason)
        return outcome

    async def _follow(
        self, opencode: Opencode, turn: Turn, model: Model, prompt: Prompt, say: Say | None, limit: asyncio.Timeout
    ) -> Outcome:
        deadline = limit.when()
        assert deadline is not None
        async with opencode.events() as events:
            if await anext(events, None) is None:
                raise OpencodeError("the event stream is empty")
            await opencode.prompt(turn.session, model, prompt)
            async for event in events:
                for step in turn.feed(event):
                    outcome = await self._act(opencode, step, say, limit)
                    if outcome is not None:
                        return outcome
                self._parts.keep_time(limit, deadline, turn)
        raise OpencodeError("the event stream ended")

    async def _act(self, opencode: Opencode, step: Step, say: Say | None, limit: asyncio.Timeout) -> Outcome | None:
        if isinstance(step, Reply | Failure):
            return step
        if isinstance(step, Question):
            await self._parts.answer_question(opencode, step, limit)
        elif say is not None and isinstance(step, Delta):
            await say(step.text)
        elif say is not None and isinstance(step, Retracted):
            return Failure("text that was sent already is of an abandoned attempt")
        return None

    async def _give_up(self, opencode: Opencode, turn: Turn, why: Why) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(self._abort_grace):
                await self._parts.give_up(opencode, turn, why)
