"""The recording HTTP client: sends what it is told, byte for byte, and never asserts."""

from __future__ import annotations

import asyncio

import httpx

from harness.exchange import Request
from harness.journal import Recording


class Client:
    """Sends requests to `base_url`. Lives on one event loop."""

    def __init__(self, base_url: str) -> None:
        self.base_url = base_url
        self._http: httpx.AsyncClient | None = None

    async def start(self) -> None:
        """Make ready to send.

        Connections are not reused, so that no answer depends on an earlier one; no encoding is accepted, so that
        bodies are recorded as they read. Certificates are loaded, which takes time, only for a URL that needs them.
        """
        self._http = httpx.AsyncClient(
            headers={"accept-encoding": "identity"},
            limits=httpx.Limits(max_connections=None, max_keepalive_connections=0),
            timeout=None,
            trust_env=False,
            follow_redirects=False,
            verify=self.base_url.startswith("https:"),
        )

    async def stop(self) -> None:
        """Close what is open."""
        if self._http is not None:
            await self._http.aclose()

    async def send(self, request: Request, recording: Recording, deadline: float) -> None:
        """Send `request` and record what comes; after `deadline` seconds in all, the client leaves.

        Cancelling it makes the client leave too. Either way the recording is closed.
        """
        try:
            async with asyncio.timeout(deadline):
                await self._exchange(request, recording)
        except TimeoutError:
            recording.close("gone", f"no end within {deadline:g} s")
        except asyncio.CancelledError:
            recording.close("gone", "left on purpose")
            raise
        except httpx.HTTPError as error:
            begun = recording.snapshot().status is not None
            recording.close("cut" if begun else "failed", f"{type(error).__name__}: {error}")

    async def _exchange(self, request: Request, recording: Recording) -> None:
        assert self._http is not None, "the client has not been started"
        outgoing = self._http.build_request(
            request.method, self.base_url + request.target, headers=list(request.headers), content=request.body
        )
        response = await self._http.send(outgoing, stream=True)
        try:
            headers = tuple((k.decode("latin-1"), v.decode("latin-1")) for k, v in response.headers.raw)
            recording.head(response.status_code, headers)
            async for data in response.aiter_raw():
                recording.data(data)
            recording.close("complete")
        finally:
            await response.aclose()
