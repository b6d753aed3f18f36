"""A running target as checks reach it: the live side of `harness.actors`, cut into windows, one per check."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping
from concurrent.futures import CancelledError, Future
from dataclasses import replace
from types import TracebackType

from harness.behind import Behind
from harness.client import Client
from harness.engine import Engine
from harness.exchange import Exchange, Hop, Request
from harness.fakes.model.script import Rule
from harness.journal import Journal, Recording, Window
from harness.tap import Tap
from harness.tap_script import TapRule

LATE_SECONDS = 10.0
"""Beyond its declared deadline, how long the target is waited for, so that it is seen being late."""

_CALL_SECONDS = 10.0


class PendingRequest:
    """A request under way on the engine."""

    def __init__(self, journal: Journal, recording: Recording, future: Future[None]) -> None:
        self._journal, self._recording, self._future = journal, recording, future

    def result(self) -> int:
        """Wait for its end; the exchange's number. Raises what broke in the client."""
        if not self._future.cancelled():
            with contextlib.suppress(CancelledError):
                self._future.result()
        self._journal.wait("client", lambda _: self._recording.snapshot().end != "open", _CALL_SECONDS)
        return self._recording.snapshot().number

    @property
    def over(self) -> bool:
        """Whether its answer is whole, or never will be."""
        return self._future.done()

    def leave(self) -> None:
        """Close the connection now; a request that was not even sent yet is left too."""
        if self._future.cancel():
            self._recording.close("gone", "left on purpose")


class LiveTarget:
    """The target at `url` with what stands behind it, or nothing of ours when `behind` is None.

    `url` is empty for a target that serves nothing, which no request can be sent to.
    """

    def __init__(
        self,
        engine: Engine,
        journal: Journal,
        url: str,
        keys: Mapping[str, str],
        deadline: float,
        behind: Behind | None,
    ) -> None:
        self.url = url
        self.keys = keys
        self._engine, self._journal, self._behind = engine, journal, behind
        self._client = Client(url)
        self._deadline = deadline
        # Of the official client, which gives up by itself what is silent for so long, but not what never ends.
        self._tap = Tap("client", url, journal, deadline=deadline, late=2 * LATE_SECONDS)
        self._pending: list[PendingRequest] = []

    def __enter__(self) -> LiveTarget:
        self._engine.call(self._tap.start(), _CALL_SECONDS)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._engine.call(self._tap.stop(), _CALL_SECONDS)

    def begin(self, request: Request, label: str) -> PendingRequest:
        """Send a request to the target in the background."""
        recording = self._journal.record("client", request, label)
        future = self._engine.submit(self._client.send(request, recording, self._deadline, LATE_SECONDS))
        self._pending.append(PendingRequest(self._journal, recording, future))
        return self._pending[-1]

    def send(self, request: Request, label: str, key: str, scheme: str = "Bearer") -> Exchange:
        """A request with the key of that name, and its answer."""
        headers = (*request.headers, ("authorization", f"{scheme} {self.keys[key]}"))
        return self.find(self.begin(replace(request, headers=headers), label).result())

    def seen(self, hop: Hop) -> tuple[Exchange, ...]:
        """What a hop has carried in this window."""
        self._catch_up()
        return self._journal.seen(hop)

    def find(self, number: int) -> Exchange:
        """The exchange of that number in this window."""
        return next(exchange for exchange in self._journal.seen() if exchange.number == number)

    def wait(self, hop: Hop, until: Callable[[tuple[Exchange, ...]], bool], within: float) -> bool:
        """Wait until the exchanges on a hop are as wanted."""
        return self._journal.wait(hop, until, within)

    def calm(self, hop: Hop) -> float:
        """Seconds since a request last began on a hop, or one of the client's began or ended."""
        self._catch_up()
        return self._journal.calm(hop)

    def _catch_up(self) -> None:
        if self._behind is not None:
            self._behind.catch_up()

    def observes(self, hop: Hop) -> bool:
        """Whether a stand-in or a tap of ours is on a hop."""
        return hop == "client" or (self._behind is not None and self._behind.observes(hop))

    def canaries(self) -> Mapping[str, str]:
        """Names and values of what no answer may hold: keys, passwords and addresses of the run."""
        keys = {f"the key {name}": key for name, key in self.keys.items()}
        return keys if self._behind is None else {**keys, **self._behind.canaries()}

    def use_model_rules(self, rules: tuple[Rule, ...]) -> None:
        """What the model server says from now on."""
        assert self._behind is not None
        self._behind.use_model_rules(rules)

    def open_gate(self, name: str) -> None:
        """Let the model's answers go on that wait at the gate of that name."""
        assert self._behind is not None
        self._behind.open_gate(name)

    def through_tap(self) -> str:
        """The base URL of a tap in front of the target, for clients with an HTTP stack of their own."""
        return self._tap.url

    def use_tap_rules(self, rules: tuple[TapRule, ...]) -> None:
        """What the tap in front of opencode does from now on."""
        assert self._behind is not None
        self._behind.use_tap_rules(rules)

    def close_window(self) -> Window:
        """End a check: leave what it still asks for, bring the parts to rest, and hand over what was exchanged."""
        for pending in self._pending:
            pending.leave()
        self._pending.clear()
        if self._behind is not None:
            self._behind.settle()
        return self._journal.close_window()
