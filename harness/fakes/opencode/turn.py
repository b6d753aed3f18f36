"""A turn: the steps from a prompt to idle, with retries, compaction and abort."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Literal

from harness.fakes.opencode import prompts
from harness.fakes.opencode.ids import new_id, now
from harness.fakes.opencode.model_call import stream_call
from harness.fakes.opencode.retry import ModelFailed
from harness.fakes.opencode.sessions import Message, Session, no_tokens
from harness.fakes.opencode.step import Step
from harness.fakes.opencode.tools import run_tool

if TYPE_CHECKING:
    from harness.fakes.opencode.core import Core

_ABORTED = {"name": "MessageAbortedError", "data": {"message": "Aborted"}}
_FILTERED = {
    "name": "ContentFilterError",
    "data": {"message": "The response was blocked by the provider's content filter"},
}
_TOO_LARGE = {
    "name": "ContextOverflowError",
    "data": {"message": "Session too large to compact - context exceeds model limit even after stripping media"},
}

Next = Literal["go on", "stop", "compact"]
Phase = Literal["preparing", "working", "waiting"]


class UnknownModel(Exception):
    """The prompt's model is not configured."""


class Turn:
    """A session's turn. `task` runs it; `abort` ends it from outside."""

    def __init__(self, core: Core, session: Session) -> None:
        self._core, self.session = core, session
        self._behaviour = core.behaviour
        self._begun = asyncio.Event()
        self._phase: Phase = "preparing"
        self._step: Step | None = None
        self._summarised: set[str] = set()
        self.status: dict[str, Any] = {"type": "busy"}
        self.task: asyncio.Task[Message | None] | None = None
        self.aborted = False
        self.given_up = asyncio.Event()
        """Set when the turn was aborted and told to be idle, while its tools have yet to be given up."""

    async def over(self) -> Message | None:
        """Wait for the end; the last assistant message. Raises UnknownModel."""
        assert self.task is not None
        return await asyncio.shield(self.task)

    async def abort(self) -> None:
        """End the turn."""
        if self.task is not None and (self._behaviour.aborts_early or self._phase != "preparing"):
            await self._begun.wait()  # a task that is cancelled before its first step never runs at all
            if not self.aborted:
                self.aborted = True
                self.task.cancel()
            await asyncio.wait({self.task})

    async def run(self) -> Message | None:
        """Take the turn to its end; the last assistant message."""
        self._begun.set()
        try:
            await asyncio.sleep(self._behaviour.preparing)
            self._phase = "working"
            await self._take_steps()
        except asyncio.CancelledError:
            await self._end_aborted()
        except UnknownModel as unknown:
            error = {"name": "UnknownError", "data": {"message": str(unknown)}}
            self._core.emit(self.session, "session.error", error=error)
            raise
        finally:
            self._core.turns.pop(self.session.id, None)
            self._core.emit_idle(self.session)
        self._tell_changes_at_end()
        return self.session.last("assistant")

    async def _take_steps(self) -> None:
        while True:
            self._tell_status({"type": "busy"})
            user, answer = self.session.last("user"), self.session.last("assistant")
            if user is None or (answer is not None and self._answers(answer, user)):
                return
            if any(part["type"] == "compaction" for part in user.parts.values()):
                going = await self._compact(user)
            else:
                going = await self._take_step(user)
            if going == "compact":
                self._ask_for_compaction(user)
            elif going == "stop":
                return

    def _answers(self, answer: Message, user: Message) -> bool:
        order = list(self.session.messages)
        later = order.index(answer.id) > order.index(user.id)
        return later and not self._goes_on(answer)

    def _goes_on(self, answer: Message) -> bool:
        """Whether the model is asked again after an answer: for its finish reason, or for the tools it has called."""
        called = any(part["type"] == "tool" for part in answer.parts.values())
        return (called and self._behaviour.goes_on_after_tools) or answer.info.get("finish") in {
            None,
            *self._behaviour.goes_on_after,
        }

    # Steps

    async def _take_step(self, user: Message) -> Next:
        self._check_model(user)
        self._step = step = Step(self._core, self.session, self._new_answer(user))
        self._core.emit_message(self.session, step.message)
        if user.id not in self._summarised:
            self._summarised.add(user.id)
            self._tell_changes(user)
            if self.session.untitled and self.session.parent is None:
                self.session.untitled = False
                self._core.begin(self._make_title(user))
        self._tell_status({"type": "busy"})
        try:
            await self._call(step, user, lambda: prompts.turn_call(self._core.settings, self.session, user))
        except ModelFailed as failed:
            if failed.overflow:
                self._core.emit(self.session, "session.error", error=failed.error)
                step.complete()
                self._core.emit_message(self.session, step.message)
                return "compact"
            self._tell_failed(step, failed.error)
            return "stop"
        calls = [asyncio.ensure_future(run_tool(self._core, step, *call)) for call in step.calls]
        await asyncio.sleep(0)
        step.close_text()
        going = all(await asyncio.gather(*calls))
        if step.finish() == "content-filter":
            step.message.info["error"] = _FILTERED
            self._core.emit_message(self.session, step.message)
            self._core.emit(self.session, "session.error", error=_FILTERED)
            return "stop"
        return "go on" if going else "stop"

    async def _call(self, step: Step, user: Message, body: Any) -> None:
        provider = self._core.providers[user.info["model"]["providerID"]]
        for attempt in range(1, self._behaviour.max_retries + 2):
            step.begin_again()
            try:
                async for chunk in stream_call(provider, body(), self._behaviour):
                    step.take(chunk)
            except ModelFailed as failed:
                if not failed.retried or attempt > self._behaviour.max_retries:
                    raise
                await self._wait_to_retry(attempt, failed)
            else:
                step.end()
                return

    async def _wait_to_retry(self, attempt: int, failed: ModelFailed) -> None:
        seconds = self._behaviour.retry_after(attempt, failed.headers)
        following = now() + int(seconds * 1000)
        self._tell_status({"type": "retry", "attempt": attempt, "message": failed.shown, "next": following})
        self._phase = "waiting"
        await asyncio.sleep(seconds)
        self._phase = "working"
        self._tell_status({"type": "busy"})

    def _check_model(self, user: Message) -> None:
        wanted = user.info["model"]
        if not self._core.settings.knows(wanted):
            raise UnknownModel(f"Model not found: {wanted['providerID']}/{wanted['modelID']}.")

    def _new_answer(self, user: Message, **changes: Any) -> Message:
        agent = user.info["agent"]
        info: dict[str, Any] = {
            "id": new_id("msg"),
            "parentID": user.id,
            "role": "assistant",
            "mode": agent,
            "agent": agent,
            "path": {"cwd": self.session.directory, "root": "/"},
            "cost": 0,
            "tokens": no_tokens(),
            "modelID": user.info["model"]["modelID"],
            "providerID": user.info["model"]["providerID"],
            "time": {"created": now()},
            "sessionID": self.session.id,
        }
        if "variant" in user.info["model"]:
            info["variant"] = user.info["model"]["variant"]
        message = Message(info | changes)
        self.session.messages[message.id] = message
        return message

    # Compaction

    def _ask_for_compaction(self, user: Message) -> None:
        self._add_user_message(user, {"type": "compaction", "auto": True, "overflow": True})

    async def _compact(self, user: Message) -> Next:
        self._check_model(user)
        message = self._new_answer(user, mode="compaction", agent="compaction", summary=True)
        self._step = step = Step(self._core, self.session, message)
        self._core.emit_message(self.session, message)
        self._tell_status({"type": "busy"})
        try:
            model = user.info["model"]
            await self._call(step, user, lambda: prompts.summary_call(self._core.settings, self.session, model))
        except ModelFailed as failed:
            if not failed.overflow:
                self._tell_failed(step, failed.error)
                return "stop"
            self._core.emit(self.session, "session.error", error=failed.error)
            message.info |= {"error": _TOO_LARGE, "finish": "error"}
            step.complete()
            self._core.emit_message(self.session, message)
            self._core.emit_message(self.session, message)
            return "stop"
        step.close_text()
        step.finish()
        self._tell_changes(user)
        synthetic = {"metadata": {"compaction_continue": True}, "synthetic": True}
        times = {"time": {"start": now(), "end": now()}}
        self._add_user_message(user, {"type": "text", "text": prompts.CONTINUE, **synthetic, **times})
        self._core.emit(self.session, "session.compacted")
        return "go on"

    def _add_user_message(self, like: Message, part: dict[str, Any]) -> None:
        copied = {key: like.info[key] for key in ("sessionID", "role", "agent", "model")}
        message = Message({"id": new_id("msg"), **copied, "time": {"created": now()}})
        self.session.messages[message.id] = message
        self._core.emit_message(self.session, message)
        part_id = new_id("prt")
        message.parts[part_id] = {"id": part_id, "messageID": message.id, "sessionID": self.session.id, **part}
        self._core.emit_part(self.session, message, part_id)

    # Beside the turn

    async def _make_title(self, user: Message) -> None:
        small = self._core.settings.small_model
        model = small if small is not None and self._core.settings.knows(small) else user.info["model"]
        provider = self._core.providers[model["providerID"]]
        body = prompts.title_call(self._core.settings, model, user)
        said: list[str] = []
        try:
            async for chunk in stream_call(provider, body, self._behaviour):
                said += [c["delta"].get("content") or "" for c in chunk.get("choices") or () if c.get("delta")]
        except ModelFailed:
            return
        self.session.info["title"] = "".join(said).strip() or self.session.info["title"]
        self._core.emit_session(self.session)

    def _tell_changes(self, user: Message) -> None:
        """What the prompt changed in the folder, which is nothing."""
        self.session.info["summary"] = {"additions": 0, "deletions": 0, "files": 0}
        user.info["summary"] = {"diffs": []}
        self._core.emit_session(self.session)
        self._core.emit(self.session, "session.diff", diff=[])
        self._core.emit_message(self.session, user)

    def _tell_changes_at_end(self) -> None:
        user, answer = self.session.last("user"), self.session.last("assistant")
        if user is not None and answer is not None and answer.info.get("finish") not in (None, "error"):
            self._tell_changes(user)

    # Ends

    def _tell_status(self, status: dict[str, Any]) -> None:
        self.status = status
        self._core.emit(self.session, "session.status", status=status)

    def _tell_failed(self, step: Step, error: dict[str, Any]) -> None:
        self._tell_error(error)
        self._close_failed(step, error)

    def _tell_error(self, error: dict[str, Any]) -> None:
        self._core.emit(self.session, "session.error", error=error)
        self._core.emit_idle(self.session)

    def _close_failed(self, step: Step, error: dict[str, Any]) -> None:
        step.close_text()
        step.interrupt_tools()
        step.message.info["error"] = error
        step.complete()
        self._core.emit_message(self.session, step.message)

    async def _end_aborted(self) -> None:
        if self._phase == "preparing" or self._step is None:
            return
        if self._phase == "waiting":
            self._step.complete()
            self._core.emit_message(self.session, self._step.message)
            return
        self._tell_error(_ABORTED)
        if self._step.open_tools():
            self.given_up.set()
            await asyncio.sleep(self._behaviour.settling)
        self._close_failed(self._step, _ABORTED)
