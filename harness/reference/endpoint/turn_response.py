"""The answer to a chat completions request: runs its turn, and gives it up when the client goes."""

from __future__ import annotations

import asyncio

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from harness.reference.endpoint.agents import Model
from harness.reference.endpoint.chat_request import ChatRequest
from harness.reference.endpoint.completion import completion
from harness.reference.endpoint.driver import Drive
from harness.reference.endpoint.parts import Parts
from harness.reference.endpoint.rendering import json_response
from harness.reference.endpoint.turn import Failure


class TurnResponse(Response):
    """A response that is made while it is sent."""

    def __init__(self, chat: ChatRequest, model: Model, drive: Drive, parts: Parts) -> None:
        self._chat, self._drive, self._parts = chat, drive, parts
        self._frame = parts.new_frame(chat.model, model)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Part of ASGI."""
        answering = asyncio.ensure_future(self._answer(scope, receive, send))
        leaving = asyncio.ensure_future(_left(receive))
        try:
            await asyncio.wait({answering, leaving}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            answering.cancel()
            leaving.cancel()
            await asyncio.gather(answering, leaving, return_exceptions=True)
        if not answering.cancelled():
            answering.result()

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self._chat.stream:
            await self._stream(scope, receive, send)
            return
        outcome = await self._drive(None)
        if isinstance(outcome, Failure):
            await self._parts.render_refusal(self._parts.turn_failed(outcome))(scope, receive, send)
        else:
            await json_response(completion(self._frame, outcome))(scope, receive, send)

    async def _stream(self, scope: Scope, receive: Receive, send: Send) -> None:
        stream = self._parts.make_stream(self._frame, send, self._chat.include_usage, self._parts)
        outcome = await self._drive(stream.write)
        if not isinstance(outcome, Failure):
            await stream.finish(outcome)
        elif stream.started:
            await stream.fail(self._parts.turn_failed(outcome))
        else:
            await self._parts.unbegun_stream(self._parts.turn_failed(outcome))(scope, receive, send)


async def _left(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
