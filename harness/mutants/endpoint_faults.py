"""Endpoints that do wrong when opencode does."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

from harness.mutants.mutant import Mutant, changing
from harness.reference.endpoint.agents import Model
from harness.reference.endpoint.chat_request import Message
from harness.reference.endpoint.driver import Drive, Say
from harness.reference.endpoint.envelope import Refusal, turn_failed
from harness.reference.endpoint.opencode import Opencode, payload_of
from harness.reference.endpoint.parts import Parts
from harness.reference.endpoint.turn import Failure, Outcome, Question, Reply, Step, Turn
from harness.sse import Parser


def _unreachable_is_503(failure: Failure) -> Refusal:
    if "ClientConnectorError" in failure.reason:
        return Refusal(503, "The agent is not available.", type="server_error", code="unavailable")
    return turn_failed(failure)


def _pass_status_on(failure: Failure) -> Refusal:
    status = re.search(r"status (4\d\d)", failure.reason)
    return Refusal(int(status[1]), "The agent refused the turn.") if status else turn_failed(failure)


async def _read_trustingly(packets: AsyncIterator[bytes]) -> AsyncIterator[dict[str, Any]]:
    """Whatever comes is taken for an event."""
    parser = Parser()
    async for data in packets:
        for event in parser.feed(data):
            yield json.loads(event.data)


async def _read_end_as_idle(packets: AsyncIterator[bytes]) -> AsyncIterator[dict[str, Any]]:
    """A stream that is over is taken for a turn that is over."""
    parser = Parser()
    last: dict[str, Any] = {}
    async for data in packets:
        for event in parser.feed(data):
            payload = payload_of(event)
            if payload["type"] == "message.updated" and payload["properties"]["info"]["role"] == "assistant":
                last = payload["properties"]
            yield payload
    if last:
        yield {"type": "message.updated", "properties": {**last, "info": {**last["info"], "finish": "stop"}}}
        yield {"type": "session.idle", "properties": {"sessionID": last["sessionID"]}}


async def _wait_for_somebody(_opencode: Opencode, _question: Question, limit: asyncio.Timeout) -> None:
    limit.reschedule(None)
    await asyncio.Event().wait()


class _TellsWhy(Turn):
    def _on_error(self, properties: dict[str, Any]) -> list[Step]:
        steps = super()._on_error(properties)
        return [Failure(json.dumps(properties)) if isinstance(step, Failure) else step for step in steps]


def _say_why(failure: Failure) -> Refusal:
    refusal = turn_failed(failure)
    refusal.message = failure.reason
    return refusal


def _no_code(failure: Failure) -> Refusal:
    refusal = turn_failed(failure)
    refusal.code = None
    return refusal


class _Grudge:
    """Once opencode could not be reached, the next request is refused without trying."""

    def __init__(self) -> None:
        self._held = False

    def bear(self, failure: Failure) -> Refusal:
        self._held |= "ClientConnectorError" in failure.reason
        return turn_failed(failure)

    def take_out_on(self, _message: Message) -> None:
        if self._held:
            self._held = False
            raise turn_failed(Failure("not tried"))


def _hold_grudge(parts: Parts) -> Parts:
    grudge = _Grudge()
    return replace(parts, turn_failed=grudge.bear, check_empty=grudge.take_out_on)


class _AbortedIsReply(Turn):
    def _on_error(self, properties: dict[str, Any]) -> list[Step]:
        answers = [key for key, message in self._messages.items() if self._answers(message)]
        text = self._text(answers[-1]) if answers else ""
        if text and properties.get("error", {}).get("name") == "MessageAbortedError":
            return [Reply(text, "stop", self._usage())]
        return super()._on_error(properties)


async def _try_late_turns_again(_model: Model, drive: Drive, say: Say | None) -> Outcome:
    for _ in range(4):
        outcome = await drive(say)
        if outcome != Failure("no outcome in time"):
            break
    return outcome


FAULTS: tuple[Mutant[Parts], ...] = (
    changing("unreachable_is_503", "answers 503 when refused", "AE-FAULT-1", turn_failed=_unreachable_is_503),
    changing("upstream_4xx_passed_on", "passes opencode's 4xx on", "AE-FAULT-2", turn_failed=_pass_status_on),
    changing("malformed_event_crashes", "trusts every event", "AE-FAULT-4", read_events=_read_trustingly),
    changing("stream_end_is_idle", "answers when the stream ends", "AE-FAULT-4", read_events=_read_end_as_idle),
    changing(
        "late_turn_again",
        "tries a late turn four times",
        "AE-FAULT-5",
        "AE-FAULT-6",
        "AE-FAULT-7",
        run_turn=_try_late_turns_again,
    ),
    changing(
        "question_waits",
        "waits for an answer for ever",
        "AE-FAULT-7",
        "AE-FAULT-11",
        answer_question=_wait_for_somebody,
    ),
    changing("tells_why", "tells why a turn failed", "AE-FAULT-8", make_turn=_TellsWhy, turn_failed=_say_why),
    changing("no_agent_error", "answers 502 without a code", "AE-FAULT-8", turn_failed=_no_code),
    Mutant("holds_grudge", "refuses the next one too", frozenset({"AE-FAULT-9"}), _hold_grudge),
    changing("aborted_is_reply", "answers with half of it", "AE-FAULT-10", make_turn=_AbortedIsReply),
)
