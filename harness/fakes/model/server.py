"""The fake model server on its socket: every call is journalled and answered by the script."""

from __future__ import annotations

from collections.abc import Iterable

from harness.exchange import Request
from harness.fakes.http import HttpServer, Wire
from harness.fakes.model.captures import Captures, parted, record
from harness.fakes.model.face import PLAIN, Face
from harness.fakes.model.faces import answered
from harness.fakes.model.script import Script
from harness.fakes.plan import Plan, play
from harness.journal import Journal


class ModelServer:
    """An OpenAI-compatible model server that serves `models` and says what its `script` holds.

    With a `journal`, its calls are recorded there as hop `model`; without, they are not kept (a tap in front of it
    records what the run needs). `face` says how it shows itself; one that takes rollouts keeps their calls in
    `captures`.
    """

    def __init__(
        self,
        models: Iterable[str],
        journal: Journal | None = None,
        face: Face = PLAIN,
        captures: Captures | None = None,
    ) -> None:
        self.models = frozenset(models)
        self.face = face
        self.captures = captures
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
        plan = self._plan(request)
        play(plan, wire, recording, gate=self.script.gate(plan.gate) if plan.gate else None)

    def _plan(self, request: Request) -> Plan:
        face = self.face
        rollout, asked = parted(request) if face.rollouts else (None, request)
        plan = answered(face, asked, self.models, self.script.choose)
        filed, kept = face.files(rollout), record(asked, plan) if face.rollouts else None
        if self.captures is not None and filed is not None and kept is not None:
            self.captures.keep(filed, face.keeps(kept))
        return plan
