"""The control of what `turnproof up` holds: lets one run at a time steer it and see what it carries.

Below an address that ends in a secret word, `GET` tells what is held, and the time on the system's monotonic clock, by
which the two processes tell each other when something was. `POST attach` is answered by a stream of lines
that lasts as long as the run has the hold: what it needs to know, then all that the journal is told. What is done goes
to `POST SESSION/NAME`, and its answer tells how much news there was by then. When the stream's reader is gone, for
whatever reason, the parts are brought to rest and the next run can have them.
"""

from __future__ import annotations

import asyncio
import contextlib
import hmac
import json
import secrets
import time
from collections.abc import Callable, Iterator
from typing import Any, get_args

from harness.behind import Behind
from harness.engine import Engine
from harness.errors import TurnproofError
from harness.exchange import Exchange, Hop, Request
from harness.fakes.http import HttpServer, Wire, encode_chunk, encode_head
from harness.fakes.model.script import Rule
from harness.held import Description
from harness.journal import Journal, Listener
from harness.journal_feed import Teller
from harness.redaction import Redactor
from harness.tap_script import rule_from_json

_PATIENCE = 5.0
"""Seconds in which the run before may let go."""

_GATHERING = 0.004
"""Seconds in which news is gathered: each packet costs both ends more than all that is in it."""

_UNHEARD = 1000
"""How many exchanges are kept while no run has the hold: their sessions are ended before one has it."""

_CALL_SECONDS = 10.0
_STOP_SECONDS = 60.0


class Session:
    """One run's hold: `left` is set when it lets go or is gone, `over` once everything is at rest again."""

    def __init__(self, wire: Wire) -> None:
        self._wire = wire
        self._loop = asyncio.get_running_loop()
        self.word = secrets.token_urlsafe(8)
        self.teller = Teller(self._wake)
        self.left = asyncio.Event()
        self.over = asyncio.Event()
        wire.gone = self.left.set

    def send(self) -> None:
        """Send what was gathered."""
        if line := self.teller.take():
            self._wire.write(encode_chunk(line))

    def _wake(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.call_later, _GATHERING, self.send)


class Unheard(Listener):
    """Listens while no run does, and clears the journal now and then, which nobody reads."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._begun = 0

    def began(self, exchange: Exchange) -> None:
        """Part of `Listener`."""
        self._begun += 1
        if self._begun % _UNHEARD == 0:
            self._journal.close_window()


class Control:
    """Serves the control of `behind`, whose exchanges are in `journal`."""

    def __init__(self, behind: Behind, journal: Journal, description: Description) -> None:
        self._behind, self._journal, self._description = behind, journal, description
        self._http = HttpServer(self._handle)
        self._word = secrets.token_urlsafe(16)
        self._hold, self._turn = asyncio.Lock(), asyncio.Lock()
        self._session: Session | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._acts: dict[str, Callable[[Any], None]] = {
            "model": lambda rules: behind.use_model_rules(tuple(map(Rule.from_json, rules))),
            "tap": lambda rules: behind.use_tap_rules(tuple(map(rule_from_json, rules))),
            "gate": behind.open_gate,
            "settle": lambda _: self._rest(),
            "catch-up": lambda _: None,
        }

    @property
    def address(self) -> str:
        """The base URL, which ends in the secret word."""
        return f"{self._http.url}/{self._word}"

    async def start(self) -> None:
        """Listen; from here on `address` is known."""
        self._journal.listener = Unheard(self._journal)
        await self._http.start()

    async def stop(self) -> None:
        """Stop listening; a run that has the hold loses it."""
        await self._http.stop()
        await asyncio.gather(*self._tasks)

    def _handle(self, request: Request, wire: Wire) -> None:
        task = asyncio.get_running_loop().create_task(self._answer(request, wire))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _answer(self, request: Request, wire: Wire) -> None:
        word, *names = request.path.strip("/").split("/")
        if not hmac.compare_digest(word.encode(), self._word.encode()):
            _reply(wire, 403, {"turnproof": self._description.turnproof})
            return
        match request.method, names:
            case "GET", []:
                _reply(wire, 200, {**self._description.to_json(), "now": time.monotonic()})
            case "POST", ["attach"]:
                await self._attach(Session(wire), wire)
            case "POST", [session, "leave"]:
                _reply(wire, *await self._leave(session))
            case "POST", [session, name]:
                _reply(wire, *await self._act(session, name, request.json()))
            case _:
                _reply(wire, 404, {"error": f"no route {request.method} {'/'.join(names)}"})

    async def _attach(self, session: Session, wire: Wire) -> None:
        try:
            async with asyncio.timeout(_PATIENCE):
                await self._hold.acquire()
        except TimeoutError:
            _reply(wire, 409, {"error": "another run has the hold"})
            return
        try:
            await self._bring_to_rest()
            wire.write(encode_head(200, _LINES))
            self._session, self._journal.listener = session, session.teller
            wire.write(encode_chunk(json.dumps(self._welcome(session)).encode() + b"\n"))
            await session.left.wait()
            self._session, self._journal.listener = None, Unheard(self._journal)
            await self._bring_to_rest()
        finally:
            self._hold.release()
            session.over.set()
            wire.close()

    async def _bring_to_rest(self) -> None:
        async with self._turn:
            await asyncio.to_thread(self._rest)

    def _rest(self) -> None:
        self._behind.settle()
        self._journal.close_window()

    def _welcome(self, session: Session) -> dict[str, Any]:
        """What a run needs to know."""
        concealed = Redactor()
        self._behind.conceal(concealed)
        return {
            "session": session.word,
            "epoch": self._journal.epoch,
            "placeholders": dict(self._behind.placeholders()),
            "canaries": dict(self._behind.canaries()),
            "secrets": concealed.known,
            "observes": [hop for hop in get_args(Hop) if self._behind.observes(hop)],
        }

    async def _act(self, word: str, name: str, body: Any) -> tuple[int, dict[str, Any]]:
        """Status and answer of one act of a session; acts come one after another."""
        async with self._turn:
            session = self._session
            if session is None or session.word != word:
                return _OVER
            if name not in self._acts:
                return 404, {"error": f"there is no act {name}"}
            try:
                await asyncio.to_thread(self._acts[name], body)
            except (TurnproofError, LookupError, TypeError, ValueError) as error:
                return 500, {"error": repr(error)}
            session.send()
            return 200, {"told": session.teller.told}

    async def _leave(self, word: str) -> tuple[int, dict[str, Any]]:
        session = self._session
        if session is None or session.word != word:
            return _OVER
        session.left.set()
        await session.over.wait()
        return 200, {"told": session.teller.told}


_LINES = (("content-type", "application/x-ndjson"), ("transfer-encoding", "chunked"))
_OVER: tuple[int, dict[str, Any]] = (410, {"error": "the hold is over"})


def _reply(wire: Wire, status: int, body: dict[str, Any]) -> None:
    data = json.dumps(body).encode()
    headers = (("content-type", "application/json"), ("content-length", str(len(data))))
    wire.write(encode_head(status, headers) + data)
    wire.done()


@contextlib.contextmanager
def controlled(engine: Engine, behind: Behind, journal: Journal, description: Description) -> Iterator[str]:
    """The address of a control of `behind`, for as long as the context lasts."""
    control = Control(behind, journal, description)
    engine.call(control.start(), _CALL_SECONDS)
    try:
        yield control.address
    finally:
        engine.call(control.stop(), _STOP_SECONDS)
