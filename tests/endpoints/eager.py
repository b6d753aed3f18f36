"""The reference endpoint, but that it sends the headers of a stream and a comment before its turn begins.

What fails after that can only be told in the stream, which the contract allows.
"""

from __future__ import annotations

import asyncio
import sys
from typing import Any

from harness.reference.endpoint.parts import Parts
from harness.reference.endpoint.serve import serve
from harness.reference.endpoint.stream import ChunkStream
from harness.reference.endpoint.turn import Reply


class EagerStream(ChunkStream):
    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.started = True
        self._said = False
        self._opening = asyncio.ensure_future(self._open())

    async def _open(self) -> None:
        headers = [(name.encode(), value.encode()) for name, value in self._parts.stream_headers.items()]
        await self._send({"type": "http.response.start", "status": 200, "headers": headers})
        await super()._put(b": it works on it\n\n")

    async def write(self, text: str) -> None:
        delta = {"content": text} if self._said else {"role": "assistant", "content": text}
        self._said = True
        await self._put(self._chunk(delta))

    async def finish(self, reply: Reply) -> None:
        if not self._said:
            await self.write(reply.text)
        await super().finish(reply)

    async def _put(self, data: bytes, last: bool = False) -> None:
        await self._opening
        await super()._put(data, last)


if __name__ == "__main__":
    sys.exit(serve(sys.argv[1:], Parts(make_stream=EagerStream)))
