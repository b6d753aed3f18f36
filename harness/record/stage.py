"""What a scenario plays on: an opencode server, the script of its model, and an ear on its events."""

from __future__ import annotations

import contextlib
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import httpx

from harness.engine import Engine
from harness.errors import HarnessError
from harness.exchange import Exchange
from harness.fakes.model.script import SUMMARY, Answer, Rule
from harness.opencode import USERNAME
from harness.sse import Parser
from harness.stack import Stack
from harness.supervised import Supervised

Event = dict[str, Any]

MODEL = {"providerID": "litellm", "modelID": "vendor/large-1"}

_CALL_SECONDS = 60.0
_EVENT_SECONDS = 60.0
_POLL_SECONDS = 0.02
_AT_ONCE_SECONDS = 3.0
"""What an end at once may take on a loaded machine."""

Starter = Callable[[str, str, Mapping[str, Any]], tuple[Supervised, str, Path]]
"""Starts a server of a name, for a user, with settings besides the usual: its process, its base URL and its folder."""


@dataclass
class Heard:
    """The events of one subscription, each with the time of day in seconds."""

    name: str
    events: list[tuple[float, Event]] = field(default_factory=list)


@dataclass(frozen=True)
class Answered:
    """A call of a scenario with its answer."""

    method: str
    target: str
    sent: Any
    status: int
    headers: Mapping[str, str]
    body: bytes


class Stage:
    """One scenario's hold on the parts; everything it does is kept for the recording.

    After `quiet` seconds without an event nothing more is waited for. `starter` starts servers of a scenario's own.
    """

    def __init__(self, engine: Engine, stack: Stack, project: str, quiet: float, starter: Starter) -> None:
        self._quiet, self._starter = quiet, starter
        self._engine = engine
        self.project = project
        self.stack = stack
        self.calls: list[Answered] = []
        self.heard: list[Heard] = []
        self.rules: list[Rule] = []
        self._auth = (stack.username, stack.password)
        self._changed = threading.Condition()
        self._ends = contextlib.ExitStack()
        self._http = self._ends.enter_context(
            httpx.Client(base_url=stack.server_url, auth=self._auth, trust_env=False, timeout=_CALL_SECONDS)
        )

    def close(self) -> None:
        """Stop listening."""
        self._ends.close()

    def own(self, name: str, username: str = USERNAME, **settings: Any) -> OwnStage:
        """A server beside the recorded one, configured like it and with `settings` besides; one that was ended is
        started again. What is done to it is part of the recording."""
        process, url, folder = self._starter(name, username, settings)
        self._ends.callback(process.stop)
        stack = replace(self.stack, server_url=url, username=username)
        stage = OwnStage(self._engine, stack, str(folder), self._quiet, self._starter)
        stage.process, stage.calls, stage.heard, stage.rules = process, self.calls, self.heard, self.rules
        self._ends.callback(stage.close)
        return stage

    def model_says(self, *answers: Answer, to: str | None = None, summary: Answer = SUMMARY) -> None:
        """The model's answers, step by step, to prompts that hold `to` (to any when None)."""
        self.rules.append(Rule(to, answers, summary))
        self.stack.model.script.replace(tuple(self.rules))

    def model_calls(self) -> tuple[Exchange, ...]:
        """The calls of the model server so far."""
        return self.stack.journal.seen("model")

    def await_model_calls(self, count: int, or_idle: tuple[Heard, str] | None = None) -> None:
        """Wait until the model server was called so often, or else a session is idle."""

        def enough() -> bool:
            return len(self.model_calls()) >= count or (
                or_idle is not None and _is_idle(self.events(or_idle[0]), or_idle[1])
            )

        with self._changed:
            deadline = time.monotonic() + _EVENT_SECONDS
            while not enough():
                if time.monotonic() > deadline:
                    raise HarnessError(f"the model server was not called {count} times within {_EVENT_SECONDS:g} s")
                self._changed.wait(_POLL_SECONDS)

    def call(self, method: str, target: str, sent: Any = None, **options: Any) -> httpx.Response:
        """Make a call and keep it; `sent` is JSON, or raw when bytes."""
        if isinstance(sent, bytes):
            options |= {"content": sent, "headers": {"content-type": "application/json"}}
        elif sent is not None:
            options["json"] = sent
        response = self._http.request(method, target, **options)
        shown = sent.decode() if isinstance(sent, bytes) else sent
        self.calls.append(Answered(method, target, shown, response.status_code, response.headers, response.content))
        return response

    def call_as(self, credentials: tuple[str, str] | None, method: str, target: str, sent: bytes = b"") -> None:
        """Make a call with other credentials, or none."""
        http = httpx.Client(base_url=self.stack.server_url, auth=credentials, trust_env=False, timeout=5.0)
        with http, http.stream(method, target, content=sent) as response:
            if "text/event-stream" not in response.headers.get("content-type", ""):
                response.read()
            body = response.content if response.is_closed else b""
        who = "nobody" if credentials is None else f"wrong {' and '.join(self._wrong_in(credentials))}"
        self.calls.append(Answered(method, target, who, response.status_code, response.headers, body))

    def _wrong_in(self, credentials: tuple[str, str]) -> list[str]:
        pairs = zip(("user", "password"), credentials, self._auth, strict=True)
        return [name for name, given, right in pairs if given != right]

    def call_beside(self, method: str, target: str, sent: Any) -> Callable[[], None]:
        """Make a call in the background; what it returns waits for the answer and keeps it."""
        pool = self._ends.enter_context(ThreadPoolExecutor(1))
        future = pool.submit(self._http.request, method, target, json=sent)

        def keep() -> None:
            response = future.result()
            self.calls.append(Answered(method, target, sent, response.status_code, response.headers, response.content))

        return keep

    def leave_after(self, seconds: float, method: str, target: str, sent: Any) -> None:
        """Make a call and close the connection before its answer."""
        with contextlib.suppress(httpx.ReadTimeout):
            self._http.request(method, target, json=sent, timeout=seconds)

    @property
    def project_folder(self) -> Path:
        """The server's folder."""
        return Path(self.project)

    def session(self, **body: Any) -> str:
        """The id of a new session."""
        created = self.call("POST", "/session", {"title": "recorded", **body})
        return str(created.json()["id"])

    def prompt(self, session: str, text: str, **body: Any) -> httpx.Response:
        """Begin a turn in the background of the server."""
        whole = {"model": MODEL, "parts": [{"type": "text", "text": text}], **body}
        return self.call("POST", f"/session/{session}/prompt_async", whole)

    def listen(self, target: str = "/event", **options: Any) -> Heard:
        """Subscribe, and return once the server has said that it is connected."""
        heard = Heard(target)
        self.heard.append(heard)
        listening = self._engine.submit(self._hear(heard, options))
        self._ends.callback(listening.cancel)
        self.wait(heard, lambda event: event["type"] == "server.connected")
        return heard

    def wait(self, heard: Heard, wanted: Callable[[Event], bool], count: int = 1, within: float = 60.0) -> None:
        """Wait until so many events are as wanted."""
        with self._changed:
            if not self._changed.wait_for(lambda: sum(map(wanted, self.events(heard))) >= count, within):
                raise HarnessError(f"not {count} events as wanted within {within:g} s")

    def idle(self, heard: Heard, session: str, count: int = 1, within: float = _EVENT_SECONDS) -> None:
        """Wait until the session has become idle so often, and for what follows right behind."""
        self.wait(
            heard, lambda e: e["type"] == "session.idle" and e["properties"]["sessionID"] == session, count, within
        )
        self.quiet(heard)

    def quiet(self, heard: Heard, times: float = 1.0) -> None:
        """Wait until nothing has been heard for a moment, or for so many."""
        with self._changed:
            count = -1
            while count != len(heard.events):
                count = len(heard.events)
                self._changed.wait_for(lambda: len(heard.events) > count, times * self._quiet)  # noqa: B023

    def events(self, heard: Heard) -> Iterator[Event]:
        """What was heard so far, unwrapped from the envelope of `/global/event`."""
        return (event.get("payload", event) for _, event in list(heard.events))

    async def _hear(self, heard: Heard, options: Any) -> None:
        parser = Parser()
        timeout = httpx.Timeout(_CALL_SECONDS, read=None)
        async with (
            httpx.AsyncClient(
                base_url=self.stack.server_url, auth=self._auth, trust_env=False, timeout=timeout
            ) as http,
            http.stream("GET", heard.name, **options) as stream,
        ):
            with contextlib.suppress(httpx.HTTPError):
                async for data in stream.aiter_raw():
                    with self._changed:
                        now = time.time()
                        heard.events += [(now, event.json()) for event in parser.feed(data)]
                        self._changed.notify_all()


class OwnStage(Stage):
    """A scenario's hold on a server of its own."""

    process: Supervised

    def terminate(self) -> None:
        """Send the server SIGTERM; its exit status is kept, and whether it ended at once."""
        began = time.monotonic()
        os.kill(self.process.pid, signal.SIGTERM)
        status = self.process.wait(_EVENT_SECONDS)
        told = b'"at once"' if time.monotonic() - began < _AT_ONCE_SECONDS else b'"late"'
        self.calls.append(Answered("SIGTERM", "to the server", None, -1 if status is None else status, {}, told))


def _is_idle(events: Iterator[Event], session: str) -> bool:
    return any(event["type"] == "session.idle" and event["properties"]["sessionID"] == session for event in events)
