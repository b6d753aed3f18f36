"""The client of an opencode server."""

from __future__ import annotations

import copy
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from typing import Any
from urllib.parse import quote

import aiohttp
from yarl import URL

from harness.exchange import parse_json
from harness.reference.endpoint.agents import Model
from harness.reference.endpoint.config import Config
from harness.reference.endpoint.prompt import Prompt
from harness.reference.endpoint.turn import Question
from harness.sse import Event, Parser

ReadEvents = Callable[[AsyncIterator[bytes]], AsyncIterator[dict[str, Any]]]
"""Reads the packets of an answer as events."""

_CALL_SECONDS = 10.0
_NOBODY = "Nobody is there to be asked. Go on without it."


class OpencodeError(Exception):
    """The server cannot be reached, refused a call, or said something that is not in its protocol."""


class Opencode:
    """An opencode server, asked with a connection for each call: an idle one may not have survived a restart."""

    def __init__(self, config: Config, read_events: ReadEvents) -> None:
        self._read_events = read_events
        self._folder: dict[str, str] = {}
        self._url = config.opencode_url
        self._auth = aiohttp.encode_basic_auth(config.opencode_username, config.opencode_password)
        self._http: aiohttp.ClientSession

    async def open(self) -> None:
        """Make ready, on the event loop that it is used on."""
        self._http = aiohttp.ClientSession(
            headers={"Authorization": self._auth},
            connector=aiohttp.TCPConnector(limit=0, force_close=True),
            cookie_jar=aiohttp.DummyCookieJar(),
            timeout=aiohttp.ClientTimeout(_CALL_SECONDS),
        )

    def at(self, folder: str | None) -> Opencode:
        """The same server for sessions in `folder` (None: its own), which has events and questions of its own."""
        there = copy.copy(self)
        there._folder = {} if folder is None else {"directory": folder}
        return there

    async def close(self) -> None:
        """Close what is open."""
        await self._http.close()

    async def create_session(self, options: Mapping[str, Any]) -> str:
        """The id of a new session."""
        session = await self._json("POST", "/session", options, self._folder)
        session_id = session.get("id") if isinstance(session, dict) else None
        if not isinstance(session_id, str) or not session_id:
            raise OpencodeError("the new session has no id")
        return session_id

    @asynccontextmanager
    async def events(self) -> AsyncIterator[AsyncIterator[dict[str, Any]]]:
        """Every session's events from now on. Its first one comes at once and shows that it is live."""
        timeout = aiohttp.ClientTimeout(sock_connect=_CALL_SECONDS)
        try:
            async with self._http.get(f"{self._url}/event", params=self._folder, timeout=timeout) as answer:
                if answer.status != 200 or answer.content_type != "text/event-stream":
                    raise OpencodeError(f"GET /event: status {answer.status}")
                yield self._read_events(answer.content.iter_any())
        except aiohttp.ClientError as error:
            raise OpencodeError(f"GET /event: {error!r}") from error

    async def prompt(self, session: str, model: Model, prompt: Prompt) -> None:
        """Begin a turn."""
        body = {
            "model": {"providerID": model.provider, "modelID": model.id},
            **({"system": prompt.system} if prompt.system else {}),
            "parts": [{"type": "text", "text": prompt.text}],
        }
        status, _ = await self._call("POST", f"/session/{quote(session, safe='')}/prompt_async", body)
        if status != 204:
            raise OpencodeError(f"prompt_async: status {status}")

    async def children(self, session: str) -> tuple[str, ...]:
        """The ids of the session's child sessions, as far as the server tells."""
        with suppress(OpencodeError):
            sessions = await self._json("GET", f"/session/{quote(session, safe='')}/children")
            if isinstance(sessions, list):
                return tuple(str(child["id"]) for child in sessions if isinstance(child, dict) and "id" in child)
        return ()

    async def abort(self, session: str) -> None:
        """End the session's turn, if the server can be reached."""
        with suppress(OpencodeError):
            await self._call("POST", f"/session/{quote(session, safe='')}/abort")

    async def reject(self, question: Question) -> None:
        """Answer a question with no. A permission is refused with a message, without which the turn would end."""
        path = f"/{question.kind}/{quote(question.id, safe='')}"
        with suppress(OpencodeError):
            if question.kind == "permission":
                await self._call("POST", f"{path}/reply", {"reply": "reject", "message": _NOBODY}, self._folder)
            else:
                await self._call("POST", f"{path}/reject", params=self._folder)

    async def _json(
        self, method: str, path: str, body: Mapping[str, Any] | None = None, params: Mapping[str, str] | None = None
    ) -> Any:
        status, answer = await self._call(method, path, body, params)
        if status != 200:
            raise OpencodeError(f"{method} {path}: status {status}")
        return parse_json(answer)

    async def _call(
        self, method: str, path: str, body: Mapping[str, Any] | None = None, params: Mapping[str, str] | None = None
    ) -> tuple[int, bytes]:
        """The status and the body of an answer."""
        url = URL(self._url + path, encoded=True)
        try:
            async with self._http.request(method, url, json=body, params=params) as answer:
                return answer.status, await answer.read()
        except (aiohttp.ClientError, TimeoutError) as error:
            raise OpencodeError(f"{method} {path}: {error!r}") from error


async def read_events(packets: AsyncIterator[bytes]) -> AsyncIterator[dict[str, Any]]:
    """The events in a stream's packets, up to its end; raises OpencodeError at an event that is none."""
    parser = Parser()
    async for data in packets:
        for event in parser.feed(data):
            yield payload_of(event)


def payload_of(event: Event) -> dict[str, Any]:
    """What an event says; raises OpencodeError when that is nothing of the protocol's."""
    payload = event.json()
    if not isinstance(payload, dict) or not isinstance(payload.get("type"), str):
        raise OpencodeError("an event that is none")
    return payload


SESSION_OPTIONS: dict[str, Any] = {
    "title": "Chat completion",
    "permission": [
        {"permission": permission, "pattern": "*", "action": "deny"}
        for permission in ("external_directory", "question", "doom_loop")
    ],
}
"""Of a new session: a title, without which the server asks the model for one; and no to what it would ask about."""
