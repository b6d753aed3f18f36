"""Endpoints that stream wrongly."""

from __future__ import annotations

import codecs
import json
from dataclasses import replace
from typing import Any

from starlette.responses import Response

from harness.mutants.mutant import Mutant, changing
from harness.reference.endpoint.chat_request import read_stream
from harness.reference.endpoint.completion import Frame, chunk
from harness.reference.endpoint.envelope import Refusal, error_body
from harness.reference.endpoint.parts import Parts
from harness.reference.endpoint.stream import TERMINATOR, ChunkStream
from harness.reference.endpoint.turn import Reply, Retracted, Step, Turn
from harness.sse import encode


def _null_streams(flag: object) -> bool:
    return flag is None or read_stream(flag)


def _null_refused(flag: object) -> bool:
    if flag is None:
        raise Refusal(400, "`stream` must be a boolean.", param="stream")
    return read_stream(flag)


def _stripped(frame: Frame, delta: dict[str, Any], finish: str | None) -> dict[str, Any]:
    return chunk(frame, {name: text.strip() for name, text in delta.items()}, finish)


class _EndsClean(ChunkStream):
    def _failure(self, refusal: Refusal) -> bytes:
        return TERMINATOR


class _NamedEvent(ChunkStream):
    def _failure(self, refusal: Refusal) -> bytes:
        return b"event: error\n" + encode(error_body(refusal)["error"])


class _EmptyError(ChunkStream):
    def _failure(self, refusal: Refusal) -> bytes:
        return encode({"error": {}})


class _FinishError(ChunkStream):
    def _failure(self, refusal: Refusal) -> bytes:
        return self._chunk({}, "error") + TERMINATOR


class _FinishAfterError(ChunkStream):
    def _failure(self, refusal: Refusal) -> bytes:
        return super()._failure(refusal) + self._chunk({}, "stop") + TERMINATOR


class _NeverRetracts(Turn):
    def feed(self, event: dict[str, Any]) -> list[Step]:
        return [step for step in super().feed(event) if not isinstance(step, Retracted)]


class _EmptyIsJson(ChunkStream):
    async def finish(self, reply: Reply) -> None:
        if self.started or reply.text:
            await super().finish(reply)
            return
        headers = [(b"content-type", b"application/json")]
        await self._send({"type": "http.response.start", "status": 200, "headers": headers})
        await self._put(json.dumps(self._parts.chunk(self._frame, {}, reply.finish)).encode(), last=True)


def _failure_is_200(refusal: Refusal) -> Response:
    return Response(json.dumps(error_body(refusal)), media_type="application/json")


def _failure_is_bare(refusal: Refusal) -> Response:
    return Response(json.dumps(error_body(refusal)), media_type="text/event-stream")


def _usage_always(_options: object) -> bool:
    return True


def _usage_never(_options: object) -> bool:
    return False


class Holds(ChunkStream):
    """Waits for the turn's end, and says everything at once."""

    async def write(self, text: str) -> None:
        """Keep it."""
        self._held = [*getattr(self, "_held", []), text]

    async def finish(self, reply: Reply) -> None:
        """Send all of it, then the end."""
        if text := "".join(getattr(self, "_held", [])):
            await super().write(text)
        await super().finish(reply)


class _Marked(ChunkStream):
    """Begins with a byte order mark."""

    async def _put(self, data: bytes, last: bool = False) -> None:
        mark, self._mark = getattr(self, "_mark", codecs.BOM_UTF8), b""
        await super()._put(mark + data, last)


class _NeverFinishes(ChunkStream):
    def _chunk(self, delta: dict[str, Any], finish: str | None = None) -> bytes:
        return b"" if finish is not None else super()._chunk(delta)


class _OnePieceBehind(ChunkStream):
    """Holds the first piece until there is another, to send both at once; without another it is lost."""

    _held: str | None = None

    async def write(self, text: str) -> None:
        if self._held is None:
            self._held = text
        elif self.started:
            await super().write(text)
        else:
            await super().write(self._held + text)

    async def finish(self, reply: Reply) -> None:
        if not self.started:
            await super().write("")
        await super().finish(reply)


class _CountsAnswersOnly(ChunkStream):
    """Its streams' usage knows no prompt."""

    async def finish(self, reply: Reply) -> None:
        await super().finish(replace(reply, usage=replace(reply.usage, prompt=0)))


BEGUN = ("AE-FAULT-4", "AE-FAULT-5", "AE-FAULT-10", "AE-REPLY-2", "AE-STREAM-5")
"""What notices how a stream that has begun tells that its turn failed."""

UNBEGUN = ("AE-FAULT-1", "AE-FAULT-2", "AE-FAULT-3", "AE-FAULT-4", "AE-FAULT-5", "AE-REPLY-2", "AE-STREAM-5")
"""What notices how a failure is told for a stream that has not begun."""

STREAMS: tuple[Mutant[Parts], ...] = (
    changing("null_streams", "takes a null `stream` for true", "AE-STREAM-2", "AE-REQ-11", read_stream=_null_streams),
    changing("null_flag_refused", "refuses a null `stream`", "AE-STREAM-2", "AE-REQ-11", read_stream=_null_refused),
    changing("pieces_stripped", "strips white space off each delta", "AE-STREAM-4", chunk=_stripped),
    changing("failure_ends_clean", "ends a failed stream as a good one", *BEGUN, make_stream=_EndsClean),
    changing("failure_is_named", "sends a bare error, `event: error`", *BEGUN, make_stream=_NamedEvent),
    changing("failure_is_empty", "sends an empty error object", *BEGUN, make_stream=_EmptyError),
    changing("failure_is_finish", "gives the finish reason `error`", *BEGUN, make_stream=_FinishError),
    changing("finish_after_error", "finishes after an error event", *BEGUN, make_stream=_FinishAfterError),
    changing("abandoned_goes_on", "goes on after an abandoned attempt", "AE-STREAM-5", make_turn=_NeverRetracts),
    changing("usage_never_sent", "ignores `include_usage`", "AE-STREAM-6", wants_usage=_usage_never),
    changing(
        "stream_is_held", "streams when the turn is over", "AE-STREAM-7", "AE-REPLY-1", "AE-REPLY-3", make_stream=Holds
    ),
    changing(
        "empty_stream_is_json",
        "answers an empty turn in JSON",
        "AE-STREAM-8",
        "AE-REPLY-1",
        "AE-REPLY-3",
        make_stream=_EmptyIsJson,
    ),
    changing(
        "failed_stream_is_200",
        "answers 200 with an error in JSON when a stream has not begun",
        *UNBEGUN,
        "AE-TURN-1",
        "AE-STREAM-8",
        "AE-STREAM-9",
        "AE-CLIENT-1",
        unbegun_stream=_failure_is_200,
    ),
    changing(
        "failed_stream_is_bare",
        "answers with the bare error as an event stream when none has begun",
        *UNBEGUN,
        "AE-STREAM-9",
        "AE-CLIENT-1",
        unbegun_stream=_failure_is_bare,
    ),
    changing("byte_order_mark", "begins a stream with a byte order mark", "AE-STREAM-3", make_stream=_Marked),
    changing(
        "finish_left_out",
        "streams no finish reason",
        "AE-STREAM-3",
        "AE-CLIENT-1",
        "AE-REPLY-1",
        "AE-REPLY-9",
        "AE-REPLY-10",
        make_stream=_NeverFinishes,
    ),
    changing(
        "lone_piece_lost",
        "loses a text that comes in one piece",
        "AE-STREAM-4",
        "AE-REPLY-7",
        "AE-STREAM-7",
        make_stream=_OnePieceBehind,
    ),
    changing("stream_counts_no_prompt", "counts no prompt in a stream", "AE-REPLY-8", make_stream=_CountsAnswersOnly),
    changing("usage_always_sent", "sends usage unasked", "AE-STREAM-10", wants_usage=_usage_always),
)
