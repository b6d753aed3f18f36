"""Endpoints that read opencode's turn wrongly."""

from __future__ import annotations

import asyncio
import codecs
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing, asynccontextmanager
from dataclasses import replace
from typing import Any

from harness.mutants.mutant import Mutant, changing
from harness.reference.endpoint.opencode import Opencode, OpencodeError, payload_of
from harness.reference.endpoint.parts import Parts
from harness.reference.endpoint.turn import Delta, Failure, Outcome, Reply, Step, Turn, Usage
from harness.sse import Event, Parser

_LINE_LIMIT = 2**16
_LATE_SECONDS = 0.1


class _NeedsText(Turn):
    def _outcome(self) -> Outcome:
        outcome = super()._outcome()
        return Failure("no text") if isinstance(outcome, Reply) and not outcome.text else outcome


class _IdleIsReply(Turn):
    def _outcome(self) -> Outcome:
        outcome = super()._outcome()
        if isinstance(outcome, Failure):
            texts = [self._text(key) for key, message in self._messages.items() if self._answers(message)]
            return Reply("".join(texts), "stop", self._usage())
        return outcome


class _ToolStepIsReply(Turn):
    def _outcome(self) -> Outcome:
        for key, message in self._messages.items():
            if message.finish == "tool-calls" and self._last() == key:
                return Reply(self._text(key), "stop", self._usage())
        return super()._outcome()

    def _last(self) -> str:
        return [key for key, message in self._messages.items() if message.finish][-1]


class _ReasoningIsText(Turn):
    def _on_part(self, properties: dict[str, Any]) -> list[Step]:
        part = properties["part"]
        kind = "text" if part["type"] == "reasoning" else part["type"]
        return super()._on_part({**properties, "part": {**part, "type": kind}})


class _KeepsAbandoned(Turn):
    def _text(self, message_id: str) -> str:
        parts = [part for part in self._parts_of(message_id) if part.type == "text"]
        return "".join("".join(part.spoken + part.waiting) for part in parts)


class _AllStepsAreReply(Turn):
    def _text(self, message_id: str) -> str:
        answers = [key for key, message in self._messages.items() if self._answers(message)]
        return "\n".join(super(_AllStepsAreReply, self)._text(key) for key in answers)


class _AnyIdleEnds(Turn):
    def _on_idle(self, properties: dict[str, Any]) -> list[Step]:
        return [self._outcome()]


class _ChildIdleEnds(Turn):
    def feed(self, event: dict[str, Any]) -> list[Step]:
        session = event.get("properties", {}).get("sessionID")
        if event.get("type") == "session.idle" and session in self.family:
            return self._on_idle({})
        return super().feed(event)


class _HearsSessionIdle(Turn):
    """Of the two ways in which the server says that a session is idle, it knows the older one."""

    def _on_status(self, properties: dict[str, Any]) -> list[Step]:
        return [] if properties["status"]["type"] == "idle" else super()._on_status(properties)


class _LastMessageIsReply(_HearsSessionIdle):
    def _on_message(self, properties: dict[str, Any]) -> list[Step]:
        self._updated = properties["info"].get("role")
        return super()._on_message(properties)

    def _outcome(self) -> Outcome:
        return Failure("the last message is the user's") if self._updated == "user" else super()._outcome()


class _LastStepIsUsage(Turn):
    def _usage(self) -> Usage:
        *_, (_, last) = self._tokens.values()
        return last


class _CountsInputOnly(Turn):
    """What the model read from its cache was not sent to it anew."""

    def _on_part(self, properties: dict[str, Any]) -> list[Step]:
        part = properties["part"]
        if part["type"] == "step-finish":
            part = {**part, "tokens": {**part["tokens"], "cache": {}}}
        return super()._on_part({**properties, "part": part})


class _AlwaysStops(Turn):
    def _outcome(self) -> Outcome:
        outcome = super()._outcome()
        return replace(outcome, finish="stop") if isinstance(outcome, Reply) else outcome


class _ToolsAreFinish(Turn):
    def _outcome(self) -> Outcome:
        outcome = super()._outcome()
        tools = any(message.finish == "tool-calls" for message in self._messages.values())
        return replace(outcome, finish="tool_calls") if tools and isinstance(outcome, Reply) else outcome


class _StepsCountTwice(Turn):
    """A step's tokens are in its own part, and in the message."""

    def _on_message(self, properties: dict[str, Any]) -> list[Step]:
        info = properties["info"]
        tokens = {"id": info["id"], "messageID": info["id"], "type": "step-finish", "tokens": info.get("tokens")}
        return super()._on_message(properties) + self._on_part({"part": tokens})


class _AgentsCallTools(Turn):
    def _outcome(self) -> Outcome:
        outcome = super()._outcome()
        return replace(outcome, finish="tool_calls") if isinstance(outcome, Reply) else outcome


class _SpeaksReasoning(Turn):
    """Streams a reasoning's deltas; the text of the whole is without."""

    def _on_delta(self, properties: dict[str, Any]) -> list[Step]:
        steps = super()._on_delta(properties)
        part = self._parts.get(properties["partID"])
        if part is None or part.type != "reasoning":
            return steps
        waiting, part.waiting = part.waiting, []
        return [Delta(text) for text in waiting]


class _AnySessionsIdleEnds(Turn):
    def feed(self, event: dict[str, Any]) -> list[Step]:
        return self._on_idle({}) if event.get("type") == "session.idle" else super().feed(event)


class _WaitsForMore(Opencode):
    """Believes in an idle a while after it, and takes a second one until then for a turn of somebody else's."""

    @asynccontextmanager
    async def events(self) -> AsyncIterator[AsyncIterator[dict[str, Any]]]:
        async with super().events() as events, aclosing(_idle_when_late(events)) as patient:
            yield patient


async def _idle_when_late(events: AsyncIterator[dict[str, Any]]) -> AsyncGenerator[dict[str, Any]]:
    idles: list[dict[str, Any]] = []
    clock, until = asyncio.get_running_loop().time, 0.0
    coming = asyncio.ensure_future(anext(events, None))
    try:
        while True:
            await asyncio.wait({coming}, timeout=max(0.0, until - clock()) if idles else None)
            if idles and clock() >= until:
                yield idles.pop(0)
                continue
            if not coming.done():
                continue
            event = coming.result()
            if event is None:
                return
            coming = asyncio.ensure_future(anext(events, None))
            if event["type"] != "session.idle":
                yield event
            elif event["properties"] in [idle["properties"] for idle in idles]:
                raise OpencodeError("somebody else drives the session")
            else:
                until = until if idles else clock() + _LATE_SECONDS
                idles.append(event)
    finally:
        coming.cancel()


class _SummaryIsReply(Turn):
    def _outcome(self) -> Outcome:
        for key, message in self._messages.items():
            if message.summary:
                return Reply(self._text(key), "stop", self._usage())
        return super()._outcome()


async def _read_lines_of_text(packets: AsyncIterator[bytes]) -> AsyncIterator[dict[str, Any]]:
    """Lines as `str.splitlines` cuts them: at U+0085, U+2028 and U+2029 too."""
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    rest = ""
    async for data in packets:
        *lines, rest = (rest + decoder.decode(data) + "|").splitlines(keepends=True)
        rest = rest.removesuffix("|")
        for line in lines:
            if line.startswith("data:"):
                yield payload_of(Event("message", line.removeprefix("data:")))


async def _read_packets_apart(packets: AsyncIterator[bytes]) -> AsyncIterator[dict[str, Any]]:
    """Each packet is decoded by itself."""
    parser = Parser()
    async for data in packets:
        for event in parser.feed(codecs.decode(data, "utf-8", "replace").encode()):
            yield payload_of(event)


async def _read_short_lines(packets: AsyncIterator[bytes]) -> AsyncIterator[dict[str, Any]]:
    """A line longer than 64 KiB is too much."""
    parser = Parser()
    async for data in packets:
        for event in parser.feed(data):
            if len(event.data) > _LINE_LIMIT:
                raise OpencodeError("a line is too long")
            yield payload_of(event)


REPLIES: tuple[Mutant[Parts], ...] = (
    changing(
        "empty_reply_fails",
        "takes a reply without text for none",
        "AE-REPLY-1",
        "AE-REPLY-3",
        "AE-REPLY-5",
        make_turn=_NeedsText,
    ),
    changing(
        "idle_is_reply", "answers with what there is at idle", "AE-REPLY-2", "AE-STREAM-5", make_turn=_IdleIsReply
    ),
    changing("tool_step_is_reply", "takes a tool step for the reply", "AE-REPLY-2", make_turn=_ToolStepIsReply),
    changing("reasoning_is_text", "takes reasoning for text", "AE-REPLY-3", make_turn=_ReasoningIsText),
    changing("abandoned_text_kept", "keeps text of abandoned attempts", "AE-REPLY-4", make_turn=_KeepsAbandoned),
    changing("all_steps_are_reply", "joins the texts of all steps", "AE-REPLY-5", make_turn=_AllStepsAreReply),
    changing("early_idle_ends", "ends at an idle before the turn", "AE-REPLY-6", make_turn=_AnyIdleEnds),
    changing("child_idle_ends", "ends at a child session's idle", "AE-REPLY-6", make_turn=_ChildIdleEnds),
    changing(
        "any_idle_ends",
        "ends at any session's idle",
        "AE-REPLY-6",
        "AE-SCOPE-5",
        "AE-TURN-7",
        "AE-TURN-8",
        make_turn=_AnySessionsIdleEnds,
    ),
    changing(
        "second_idle_fails",
        "fails where a session is idle twice",
        "AE-REPLY-6",
        make_turn=_HearsSessionIdle,
        make_opencode=_WaitsForMore,
    ),
    changing("last_message_is_reply", "wants the assistant's last", "AE-REPLY-6", make_turn=_LastMessageIsReply),
    changing("lines_of_text", "cuts lines at U+2028", "AE-REPLY-7", read_events=_read_lines_of_text),
    changing("packets_decoded_apart", "decodes packet by packet", "AE-REPLY-7", read_events=_read_packets_apart),
    changing("long_line_fails", "fails on lines over 64 KiB", "AE-REPLY-7", "AE-REQ-7", read_events=_read_short_lines),
    changing("reasoning_is_streamed", "streams reasoning", "AE-REPLY-3", "AE-STREAM-4", make_turn=_SpeaksReasoning),
    changing("steps_count_twice", "counts a step's tokens twice", "AE-REPLY-8", make_turn=_StepsCountTwice),
    changing("usage_of_last_step", "counts the last step's tokens only", "AE-REPLY-8", make_turn=_LastStepIsUsage),
    changing("cache_not_counted", "counts no cached tokens", "AE-REPLY-8", make_turn=_CountsInputOnly),
    changing("always_stop", "says stop whatever it was", "AE-REPLY-1", "AE-REPLY-9", make_turn=_AlwaysStops),
    changing("tools_are_finish", "says tool_calls after tool steps", "AE-REPLY-10", make_turn=_ToolsAreFinish),
    changing(
        "agents_call_tools",
        "says tool_calls, which agents do",
        "AE-REPLY-1",
        "AE-REPLY-9",
        "AE-REPLY-10",
        make_turn=_AgentsCallTools,
    ),
    changing("summary_is_reply", "answers with a summary", "AE-FAULT-3", "AE-REPLY-11", make_turn=_SummaryIsReply),
)
