"""An answer as server-sent events."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

from harness.reference.endpoint.completion import Frame, usage_body
from harness.reference.endpoint.envelope import Refusal, error_body
from harness.reference.endpoint.rendering import encode_event
from harness.reference.endpoint.turn import Reply

if TYPE_CHECKING:
    from harness.reference.endpoint.parts import Parts

Send = Callable[[Any], Awaitable[None]]

TERMINATOR = b"data: [DONE]\n\n"
HEADERS = {"content-type": "text/event-stream; charset=utf-8", "cache-control": "no-cache", "x-accel-buffering": "no"}


class ChunkStream:
    """Writes a stream's events to an ASGI `send`. Nothing is sent before the first content is there."""

    def __init__(self, frame: Frame, send: Send, include_usage: bool, parts: Parts) -> None:
        self._frame, self._send, self._parts = frame, send, parts
        self._include_usage = include_usage
        self.started = False

    async def write(self, text: str) -> None:
        """Send a piece of the answer."""
        if self.started:
            await self._put(self._chunk({"content": text}))
            return
        self.started = True
        headers = [(name.encode(), value.encode()) for name, value in self._parts.stream_headers.items()]
        await self._send({"type": "http.response.start", "status": 200, "headers": headers})
        await self._put(self._chunk({"role": "assistant", "content": text}))

    async def finish(self, reply: Reply) -> None:
        """Send the end of a turn that went well."""
        if not self.started:
            await self.write(reply.text)
        data = self._chunk({}, reply.finish)
        if self._include_usage:
            data += encode_event(
                {**self._parts.chunk(self._frame, {}, None), "choices": [], "usage": usage_body(reply.usage)}
            )
        await self._put(data + self._parts.terminator, last=True)

    async def fail(self, refusal: Refusal) -> None:
        """Send an error as an event: the only form that the common clients do not take for success."""
        await self._put(self._failure(refusal), last=True)

    def _failure(self, refusal: Refusal) -> bytes:
        return encode_event(error_body(refusal))

    def _chunk(self, delta: dict[str, Any], finish: str | None = None) -> bytes:
        return encode_event(self._parts.chunk(self._frame, delta, finish))

    async def _put(self, data: bytes, last: bool = False) -> None:
        await self._send({"type": "http.response.body", "body": data, "more_body": not last})
