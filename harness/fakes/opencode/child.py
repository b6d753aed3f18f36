"""The session that a task tool begins: its turn, and what the tool gets of it."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from harness.fakes.opencode.sessions import Message, Session

if TYPE_CHECKING:
    from harness.fakes.opencode.core import Core
    from harness.fakes.opencode.turn import Turn


class ChildFailed(Exception):
    """The child's turn was aborted, or came to an error."""


async def said_by(core: Core, child: Session, agent: str, model: dict[str, str], prompt: str) -> str:
    """Prompt the child; what it says in the end. Raises ChildFailed."""
    core.add_user_message(child, {"agent": agent, "model": model, "parts": [{"type": "text", "text": prompt}]})
    turn = core.run(child)
    core.jobs[child.id] = turn
    try:
        answer = await _answer(turn)
    finally:
        del core.jobs[child.id]
    failure = _failure(answer)
    if failure is not None:
        raise ChildFailed(f"Subagent failed (task_id: {child.id}): {failure}")
    return "".join(part["text"] for part in answer.parts.values() if part["type"] == "text") if answer else ""


async def _answer(turn: Turn) -> Message | None:
    assert turn.task is not None
    given_up = asyncio.ensure_future(turn.given_up.wait())
    await asyncio.wait({turn.task, given_up}, return_when=asyncio.FIRST_COMPLETED)
    given_up.cancel()
    if turn.aborted:
        await asyncio.sleep(0)  # who aborts the parent too, and has not waited for the child's tools, comes first
        raise ChildFailed("Task cancelled")
    return await turn.over()


def _failure(answer: Message | None) -> str | None:
    """What went wrong in a last answer: its own error, else that of a tool."""
    if answer is None:
        return None
    errors: list[Any] = [answer.info["error"]["data"]["message"]] if "error" in answer.info else []
    states = [part["state"] for part in answer.parts.values() if part["type"] == "tool"]
    errors += [state["error"] for state in states if state["status"] == "error"]
    return str(errors[0]) if errors else None
