"""What stands behind a target where `turnproof up` holds it: parts in another process, steered by their control."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Iterator, Mapping
from typing import Any

import httpx

from harness.engine import Engine
from harness.errors import HarnessError, TargetNotReady
from harness.exchange import Hop
from harness.fakes.model.script import Rule
from harness.held import HeldParts
from harness.journal import Journal
from harness.journal_feed import Mirror, hear
from harness.redaction import Redactor
from harness.tap_script import TapRule

_CALL_SECONDS = 60.0
_NEWS_SECONDS = 10.0


class Hold:
    """The stream that lasts as long as the hold does; what it tells comes into `journal`. Lives on the engine."""

    def __init__(self, held: HeldParts, journal: Journal) -> None:
        self._held, self._journal = held, journal
        self._http = httpx.AsyncClient(trust_env=False, timeout=None)
        self._response: httpx.Response | None = None
        self._lines: AsyncIterator[str]
        self._heard = 0
        self._over = False

    async def take(self) -> dict[str, Any]:
        """Take hold; what the control says first. Raises TargetNotReady when another run has it."""
        request = self._http.build_request("POST", f"{self._held.address}/attach")
        try:
            async with asyncio.timeout(_CALL_SECONDS):
                self._response = await self._http.send(request, stream=True)
                if self._response.status_code != 200:
                    await self._response.aread()
                    raise _not_ready(self._held, _error(self._response), "Wait until it has ended.")
                self._lines = self._response.aiter_lines()
                welcome: dict[str, Any] = json.loads(await anext(self._lines))
        except (httpx.HTTPError, StopAsyncIteration, TimeoutError) as error:
            raise _lost(self._held) from error
        return welcome

    async def follow(self, mirror: Mirror) -> None:
        """Keep the journal up to date until the hold is over."""
        try:
            with contextlib.suppress(httpx.HTTPError):
                async for line in self._lines:
                    with self._journal.changed:
                        self._heard += hear(line, mirror)
                        self._journal.changed.notify_all()
        finally:
            with self._journal.changed:
                self._over = True
                self._journal.changed.notify_all()

    def heard_all(self, told: int, within: float) -> bool:
        """Whether so much news has come, or does within so many seconds; called on another thread."""
        with self._journal.changed:
            self._journal.changed.wait_for(lambda: self._over or self._heard >= told, within)
            return self._heard >= told

    async def end(self) -> None:
        """Close the connection."""
        if self._response is not None:
            await self._response.aclose()
        await self._http.aclose()


class Attached:
    """The parts behind a target while this run has hold of them; see `harness.behind.Behind`.

    What reaches for them raises TargetNotReady once the hold is over.
    """

    def __init__(self, held: HeldParts, hold: Hold, welcome: Mapping[str, Any], http: httpx.Client) -> None:
        self._held, self._hold, self._welcome, self._http = held, hold, welcome, http

    def placeholders(self) -> Mapping[str, str]:
        """Part of `Behind`."""
        return dict(self._welcome["placeholders"])

    def conceal(self, redactor: Redactor) -> None:
        """Part of `Behind`: the word that steers them is a secret too."""
        redactor.add("control", self._held.word)
        for name, value, user in self._welcome["secrets"]:
            redactor.add(name, value, user)

    def canaries(self) -> Mapping[str, str]:
        """Part of `Behind`."""
        return dict(self._welcome["canaries"])

    def observes(self, hop: Hop) -> bool:
        """Part of `Behind`."""
        return hop in self._welcome["observes"]

    def use_model_rules(self, rules: tuple[Rule, ...]) -> None:
        """Part of `Behind`."""
        self._act("model", [rule.to_json() for rule in rules])

    def open_gate(self, name: str) -> None:
        """Part of `Behind`."""
        self._act("gate", name)

    def use_tap_rules(self, rules: tuple[TapRule, ...]) -> None:
        """Part of `Behind`."""
        self._act("tap", [rule.to_json() for rule in rules])

    def catch_up(self) -> None:
        """Part of `Behind`."""
        self._hear_all(self._act("catch-up"))

    def settle(self) -> None:
        """Part of `Behind`."""
        self._hear_all(self._act("settle"))

    def leave(self) -> None:
        """Let go of them, and return once they are at rest."""
        self._act("leave")

    def _act(self, name: str, body: Any = None) -> int:
        """Do something; how much news there was by then."""
        try:
            url = f"{self._held.address}/{self._welcome['session']}/{name}"
            answer = self._http.post(url, content=json.dumps(body))
        except httpx.HTTPError as error:
            raise _lost(self._held) from error
        if answer.status_code == 410:
            raise _lost(self._held)
        if answer.status_code != 200:
            raise HarnessError(f"{self._held} cannot {name}: {_error(answer)}")
        return int(answer.json()["told"])

    def _hear_all(self, told: int) -> None:
        if not self._hold.heard_all(told, _NEWS_SECONDS):
            raise _lost(self._held)


@contextlib.contextmanager
def attached(engine: Engine, journal: Journal, held: HeldParts) -> Iterator[Attached]:
    """What is held, in this run's hands for as long as the context lasts; what it carries comes into `journal`.

    Raises TargetNotReady when another run has it, or when it is gone.
    """
    hold = Hold(held, journal)
    with contextlib.ExitStack() as ends:
        ends.callback(lambda: engine.call(hold.end(), _CALL_SECONDS))
        welcome = engine.call(hold.take(), _CALL_SECONDS + 1)
        following = engine.submit(hold.follow(Mirror(journal, welcome["epoch"])))
        ends.callback(following.cancel)
        http = ends.enter_context(httpx.Client(trust_env=False, timeout=_CALL_SECONDS))
        behind = Attached(held, hold, welcome, http)
        try:
            yield behind
        finally:
            with contextlib.suppress(TargetNotReady):
                behind.leave()


def _error(answer: httpx.Response) -> str:
    try:
        return str(answer.json()["error"])
    except (ValueError, KeyError, TypeError):
        return f"it answered with status {answer.status_code}"


def _lost(held: HeldParts) -> TargetNotReady:
    return _not_ready(held, "it has ended, or let go of this run", "Start turnproof up again.")


def _not_ready(held: HeldParts, message: str, hint: str) -> TargetNotReady:
    return TargetNotReady("what is behind it is held", f"{held}: {message}", hint)
