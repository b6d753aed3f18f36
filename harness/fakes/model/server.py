"""The fake model server on its socket: every call is journalled and answered by the script."""

from __future__ import annotations

from collections.abc import Iterable

from harness.exchange import Request
from harness.fakes.http import HttpServer, Wire
from harness.fakes.model.core import respond
from harness.fakes.model.script import Script
from harness.fakes.plan import play
from harness.journal import Journal


class ModelServer:
    """An OpenAI-compatible model server that serves `models` and says what its `script` holds.

    With a `journal`, its calls are recorded there as hop `model`; without, they are not kept (a tap in front of it
    records what the run needs).
    """

    def __init__(self, models: Iterable[str], journal: Journal | None = None) -> None:
        self.models = frozenset(models)
        self._kept = journal is not None
        self._journal = journal or Journal()
        self.script = Script()
        self._http = HttpServer(self._handle)

    @property
    def url(self) -> str:
        """The base URL without the `/v1`."""
        return self._http.url

    async def start(self) -> None:
        """Listen; from here on `url` is known."""
        await self._http.start()

    async def stop(self) -> None:
        """Stop listening and abort what is open."""
        await self._http.stop()

    def _handle(self, request: Request, wire: Wire) -> None:
        if not self._kept:
            self._journal.close_window()
        recording = self._journal.record("model", request)
        plan = respond(request, self.models, self.script.choose)
        play(plan, wire, recording, gate=self.script.gate(plan.gate) if plan.gate else None)
