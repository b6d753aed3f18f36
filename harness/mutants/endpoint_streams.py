"""Endpoints that stream wrongly, or answer with the wrong kind of answer."""

from __future__ import annotations

import json
from collections.abc import Mapping
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


class _Holds(ChunkStream):
    """Waits for the turn's end."""

    async def write(self, text: str) -> None:
        self._held = [*getattr(self, "_held", []), text]

    async def finish(self, reply: Reply) -> None:
        for text in getattr(self, "_held", []):
            await super().write(text)
        await super().finish(reply)


def _json_wins(stream: bool, headers: Mapping[str, str]) -> bool:
    return stream and "application/json" not in headers.get("accept", "")


def _event_stream_wins(stream: bool, headers: Mapping[str, str]) -> bool:
    return stream or headers.get("accept") == "text/event-stream"


STREAMS: tuple[Mutant[Parts], ...] = (
    changing("null_streams", "takes a null `stream` for true", "AE-STREAM-2", "AE-REQ-11", read_stream=_null_streams),
    changing("null_flag_refused", "refuses a null `stream`", "AE-STREAM-2", "AE-REQ-11", read_stream=_null_refused),
    changing("pieces_stripped", "strips white space off each delta", "AE-STREAM-4", chunk=_stripped),
    changing("failure_ends_clean", "ends a failed stream as a good one", "AE-STREAM-5", make_stream=_EndsClean),
    changing("failure_is_named", "sends a bare error, `event: error`", "AE-STREAM-5", make_stream=_NamedEvent),
    changing("failure_is_empty", "sends an empty error object", "AE-STREAM-5", make_stream=_EmptyError),
    changing("failure_is_finish", "gives the finish reason `error`", "AE-STREAM-5", make_stream=_FinishError),
    changing("finish_after_error", "finishes after an error event", "AE-STREAM-5", make_stream=_FinishAfterError),
    changing("abandoned_goes_on", "goes on after an abandoned attempt", "AE-STREAM-5", make_turn=_NeverRetracts),
    changing("usage_never_sent", "ignores `include_usage`", "AE-STREAM-6", wants_usage=_usage_never),
    changing("stream_is_held", "streams when the turn is over", "AE-STREAM-7", "AE-REPLY-1", make_stream=_Holds),
    changing(
        "empty_stream_is_json", "answers an empty turn in JSON", "AE-STREAM-8", "AE-REPLY-1", make_stream=_EmptyIsJson
    ),
    changing(
        "failed_stream_is_200",
        "answers 200 with an error in JSON when a stream has not begun",
        "AE-STREAM-5",
        "AE-FAULT-5",
        "AE-TURN-1",
        "AE-STREAM-8",
        "AE-STREAM-9",
        "AE-CLIENT-1",
        unbegun_stream=_failure_is_200,
    ),
    changing(
        "failed_stream_is_bare",
        "answers with the bare error as an event stream when none has begun",
        "AE-STREAM-5",
        "AE-FAULT-5",
        "AE-STREAM-9",
        "AE-CLIENT-1",
        unbegun_stream=_failure_is_bare,
    ),
    changing("usage_always_sent", "sends usage unasked", "AE-STREAM-10", wants_usage=_usage_always),
    changing("accept_streams", "streams for `Accept: text/event-stream`", "AE-STREAM-11", streams=_event_stream_wins),
    changing("accept_json_wins", "obeys `Accept`", "AE-STREAM-11", "AE-CLIENT-1", streams=_json_wins),
)
