"""The recording HTTP client: sends what it is told, byte for byte, and never asserts."""

from __future__ import annotations

import asyncio
from importlib.metadata import version
from urllib.parse import urlsplit

from harness.exchange import Headers, Request, header
from harness.http_call import CallFailed, HttpCall, encode_request, overdue
from harness.journal import Recording

_WITH_BODY = ("POST", "PUT", "PATCH")


class Client:
    """Sends requests to `base_url`. Lives on one event loop.

    Connections are not reused, so that no answer depends on an earlier one; no encoding is accepted, so that bodies
    are recorded as they read.
    """

    def __init__(self, base_url: str) -> None:
        self.base_url = base_url
        address = urlsplit(base_url)
        self._prefix = address.path
        self._defaults: Headers = (
            ("Host", address.netloc.rpartition("@")[2]),
            ("Accept", "*/*"),
            ("Accept-Encoding", "identity"),
            ("User-Agent", f"turnproof/{version('turnproof')}"),
        )

    async def send(self, request: Request, recording: Recording, deadline: float, late: float = 0.0) -> None:
        """Send `request` and record what comes; `late` seconds after its `deadline` in seconds, the client leaves.

        Cancelling it makes the client leave too. Either way the recording is closed.
        """
        call = HttpCall(request.method, recording)
        try:
            async with asyncio.timeout(deadline + late):
                await call.run(self.base_url, self._encode(request))
            early = None if call.whole else "the connection ended early"
        except TimeoutError:
            recording.close("gone", overdue(deadline, late))
            return
        except asyncio.CancelledError:
            recording.close("gone", "left on purpose")
            raise
        except CallFailed as failed:
            early = str(failed)
        recording.close("complete" if early is None else "cut" if call.begun else "failed", early)

    def _encode(self, request: Request) -> bytes:
        given = request.headers
        headers = [pair for pair in self._defaults if header(given, pair[0]) is None]
        if (request.body or request.method in _WITH_BODY) and header(given, "content-length") is None:
            headers.append(("Content-Length", str(len(request.body))))
        return encode_request(request.method, self._prefix + request.target, [*headers, *given], request.body)
