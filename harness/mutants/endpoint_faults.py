"""Endpoints that do wrong when opencode does."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator
from typing import Any

import aiohttp

from harness.mutants.mutant import Mutant, changing
from harness.reference.endpoint.agents import Model
from harness.reference.endpoint.driver import Drive, Say
from harness.reference.endpoint.envelope import Refusal, turn_failed
from harness.reference.endpoint.opencode import Opencode, payload_of, read_events
from harness.reference.endpoint.parts import Parts
from harness.reference.endpoint.turn import Failure, Outcome, Question, Reply, Step, Turn
from harness.sse import Parser

_FINISHES = {"MessageOutputLengthError": "length", "ContentFilterError": "content-filter"}


def _unreachable_is_503(failure: Failure) -> Refusal:
    if "ClientConnectorError" in failure.reason:
        return Refusal(503, "The agent is not available.", type="server_error", code="unavailable")
    return turn_failed(failure)


def _pass_status_on(failure: Failure) -> Refusal:
    status = re.search(r"status ([45]\d\d)", failure.reason)
    return Refusal(int(status[1]), "The agent refused the turn.") if status else turn_failed(failure)


async def _read_trustingly(packets: AsyncIterator[bytes]) -> AsyncIterator[dict[str, Any]]:
    """Whatever comes is taken for an event."""
    parser = Parser()
    async for data in packets:
        for event in parser.feed(data):
            payload = json.loads(event.data)
            if not payload["type"].startswith("server.heartbeat"):
                yield payload


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


async def _refuse_to_be_asked(_opencode: Opencode, question: Question, _limit: asyncio.Timeout) -> None:
    raise Refusal(409, f"The agent has a {question.kind} to ask.")


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


def _model_status(failure: Failure) -> Refusal:
    status = re.search(r'"statusCode": (4\d\d)', failure.reason)
    return Refusal(int(status[1]), "The model refused.") if status else turn_failed(failure)


class _ErrorEndsReply(Turn):
    """What was said before an error is the answer, and the error its finish reason."""

    def _on_error(self, properties: dict[str, Any]) -> list[Step]:
        steps = super()._on_error(properties)
        answers = [key for key, message in self._messages.items() if self._answers(message)]
        text = self._text(answers[-1]) if answers else ""
        failed = any(isinstance(step, Failure) for step in steps)
        finish = _FINISHES.get(properties["error"]["name"], "stop")
        return [Reply(text, finish, self._usage())] if text and failed else steps


class _TrustsAnswers(Opencode):
    """What comes with a 200 is what it should be."""

    async def _call(self, method: str, path: str, *more: Any, **others: Any) -> tuple[int, bytes]:
        status, answer = await super()._call(method, path, *more, **others)
        if status == 200 and (path == "/session" or path.endswith("/prompt_async")):
            assert json.loads(answer)["id"]
        return status, answer


async def _read_for_ever(packets: AsyncIterator[bytes]) -> AsyncIterator[dict[str, Any]]:
    """A stream does not end, and is not lost."""
    try:
        async for event in read_events(packets):
            yield event
    except aiohttp.ClientError as error:
        raise AssertionError("unreachable") from error
    raise AssertionError("unreachable")


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
    changing(
        "unreachable_is_503", "answers 503 when refused", "AE-FAULT-1", "AE-STREAM-5", turn_failed=_unreachable_is_503
    ),
    changing(
        "upstream_status_passed_on",
        "passes opencode's status on",
        "AE-FAULT-2",
        "AE-STREAM-5",
        turn_failed=_pass_status_on,
    ),
    changing("answers_trusted", "trusts a 200 of opencode", "AE-FAULT-2", make_opencode=_TrustsAnswers),
    changing(
        "model_status_passed_on",
        "passes on a 4xx of the model",
        "AE-FAULT-3",
        "AE-CLIENT-1",
        "AE-ENV-1",
        "AE-ENV-3",
        "AE-STREAM-5",
        "AE-TURN-1",
        make_turn=_TellsWhy,
        turn_failed=_model_status,
    ),
    changing(
        "lost_stream_crashes", "crashes where the stream ends", "AE-FAULT-4", "AE-STREAM-5", read_events=_read_for_ever
    ),
    changing("malformed_event_crashes", "trusts every event", "AE-FAULT-4", read_events=_read_trustingly),
    changing(
        "stream_end_is_idle", "answers when the stream ends", "AE-FAULT-4", "AE-STREAM-5", read_events=_read_end_as_idle
    ),
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
    changing(
        "question_is_409",
        "lets opencode ask, and answers 409 when it does",
        "AE-FAULT-7",
        "AE-FAULT-11",
        session_options={"title": "Chat completion"},
        answer_question=_refuse_to_be_asked,
    ),
    changing("tells_why", "tells why a turn failed", "AE-FAULT-8", make_turn=_TellsWhy, turn_failed=_say_why),
    changing("no_agent_error", "answers 502 without a code", "AE-FAULT-8", turn_failed=_no_code),
    changing(
        "error_ends_reply",
        "answers with what came before an error",
        "AE-FAULT-10",
        "AE-FAULT-3",
        "AE-REPLY-10",
        "AE-STREAM-5",
        make_turn=_ErrorEndsReply,
    ),
    changing("aborted_is_reply", "answers with half of it", "AE-FAULT-10", "AE-STREAM-5", make_turn=_AbortedIsReply),
)
