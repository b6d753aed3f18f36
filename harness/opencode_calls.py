"""Calls of an opencode server as a check makes them, and its events as a check reads them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from pathlib import PurePath
from typing import Any, TypeVar

from harness.actors import Call, Client, JournalReader
from harness.check import Inconclusive, expect
from harness.exchange import Exchange, Headers, Request
from harness.expectations import shown
from harness.opencode import MODELS, PROVIDER
from harness.sse import parse
from harness.telling import beginning

T = TypeVar("T")
Event = dict[str, Any]
Wanted = Callable[[list[Event]], object]
Test = Callable[[list[Event]], bool]

KEY = "main"
MODEL = {"providerID": PROVIDER, "modelID": MODELS[0]}
WITHIN = 30.0
"""Seconds in which what must come must have come: long for a loaded machine."""

_PLAIN = (("accept-encoding", "identity"),)
_JSON = (("content-type", "application/json"),)


class Ear:
    """One subscription to the server's events."""

    def __init__(self, journal: JournalReader, label: str, call: Call) -> None:
        self._journal, self._label, self._call = journal, label, call

    def until(self, label: str, wanted: Wanted, within: float = WITHIN) -> list[Event]:
        """The events so far, as soon as they are as wanted, or after `within` seconds."""

        def heard(seen: tuple[Exchange, ...]) -> bool:
            return bool(wanted(self._events(seen)))

        return self._events(self._journal.wait(label, "client", heard, within))

    def settle(self, label: str) -> None:
        """Wait until nothing new comes for a moment."""
        self._journal.read(label, "client")

    def exchange(self, label: str) -> Exchange:
        """The stream as far as it has come."""
        seen = self._journal.wait(label, "client", lambda _: True, 0.0)
        return next(exchange for exchange in seen if exchange.label == self._label)

    def raw(self, label: str) -> bytes:
        """The stream's bytes as far as they have come."""
        return self.exchange(label).body

    def _events(self, seen: Iterable[Exchange]) -> list[Event]:
        bodies = [exchange.body for exchange in seen if exchange.label == self._label]
        found = [event.json() for body in bodies for event in parse(body)]
        return [event for event in found if isinstance(event, dict)]


class Opencode:
    """Makes calls with the server's password."""

    def __init__(self, client: Client, journal: JournalReader) -> None:
        self._client, self._journal = client, journal

    def begin(self, label: str, method: str, target: str, body: Any = None, headers: Headers = ()) -> Call:
        """Make a call in the background; `body` is JSON, or raw when bytes."""
        raw = body if isinstance(body, bytes) else b"" if body is None else json.dumps(body).encode()
        whole = (_PLAIN if body is None else _PLAIN + _JSON) + headers
        return self._client.begin(label, Request(method, target, whole, raw), KEY)

    def call(self, label: str, method: str, target: str, body: Any = None, headers: Headers = ()) -> Exchange:
        """Make a call and wait for its answer."""
        return self.begin(label, method, target, body, headers).result()

    def head(self, label: str, target: str, headers: Headers, method: str = "GET") -> Exchange:
        """Make a call as somebody else, and leave as soon as its status is there: a stream would not end."""
        call = self._client.begin(label, Request(method, target, _PLAIN + headers))
        self._journal.wait(f"{label}: head", "client", lambda seen: _has_status(seen, label), WITHIN)
        return call.leave()

    def session(self, label: str = "session", query: str = "", **body: Any) -> str:
        """The id of a new session; raises Inconclusive when there is none."""
        return session_in(self.call(label, "POST", f"/session{query}", {"title": "checked", **body}))

    def prompt(self, label: str, session: str, text: str, **body: Any) -> Exchange:
        """Begin a turn in the server's background."""
        return self.call(label, "POST", f"/session/{session}/prompt_async", prompt(text, **body))

    def message(self, label: str, session: str, text: str, **body: Any) -> Exchange:
        """Make a turn and wait for its end, by the synchronous route."""
        return self.call(label, "POST", f"/session/{session}/message", prompt(text, **body))

    def abort(self, label: str, session: str) -> Exchange:
        """End a session's turn."""
        return self.call(label, "POST", f"/session/{session}/abort")

    def held_to(self, what: str, by_version: Mapping[str, T]) -> T:
        """What a server of this version is held to: the entry of the newest version that is not newer than it.

        A version older than all is held to the oldest entry.
        """
        body = self.call(f"version for {what}", "GET", "/global/health").json()
        version = _numbers(str(body.get("version") if isinstance(body, dict) else ""))
        known = sorted(by_version, key=_numbers)
        return by_version[next((name for name in reversed(known) if _numbers(name) <= version), known[0])]

    def elsewhere(self) -> str:
        """A folder that exists and is not the server's own: the one above it."""
        own = self.call("own folder", "POST", "/session", {"title": "here"}).json()
        if not isinstance(own, dict) or "directory" not in own:
            raise Inconclusive("a session does not tell its folder")
        return str(PurePath(own["directory"]).parent)

    def messages(self, label: str, session: str) -> list[dict[str, Any]]:
        """The session's messages as the server lists them."""
        listed = self.call(label, "GET", f"/session/{session}/message").json()
        return listed if isinstance(listed, list) else []

    def listen(self, label: str = "events", target: str = "/event", headers: Headers = ()) -> Ear:
        """Subscribe; raises Inconclusive when no first event comes."""
        ear = Ear(self._journal, label, self.begin(label, "GET", target, headers=headers))
        if not ear.until(f"{label}: connected", bool):
            raise Inconclusive("no event came after subscribing")
        return ear


def _numbers(version: str) -> list[int]:
    return [int(part) for part in version.split(".") if part.isdigit()]


_BESIDE = ("session.updated", "session.diff", "message.updated")


def _has_status(seen: Iterable[Exchange], label: str) -> bool:
    return any(exchange.label == label and exchange.status is not None for exchange in seen)


def session_in(created: Exchange) -> str:
    """The id of the session that was made; raises Inconclusive when there is none."""
    session = created.json()
    if created.status != 200 or not isinstance(session, dict) or not isinstance(session.get("id"), str):
        raise Inconclusive(f"no session came to be: {created.status} {beginning(created.text, 200)}")
    return str(session["id"])


def get(target: str) -> Request:
    """A call without a body, for a server of a check's own."""
    return Request("GET", target, _PLAIN)


def post(target: str, body: Any) -> Request:
    """A call with a JSON body, for a server of a check's own."""
    return Request("POST", target, _PLAIN + _JSON, json.dumps(body).encode())


def prompt(text: str, **body: Any) -> dict[str, Any]:
    """The body of a prompt."""
    return {"model": MODEL, "parts": [{"type": "text", "text": text}], **body}


def of(session: str, events: Iterable[Event]) -> list[Event]:
    """The events of a session."""
    return [event for event in events if event.get("properties", {}).get("sessionID") == session]


def of_turn(session: str, events: Iterable[Event]) -> list[Event]:
    """The events of a session but those of the jobs beside its turn, which may come late."""
    return [event for event in of(session, events) if event.get("type") not in _BESIDE]


def kinds(events: Iterable[Event]) -> list[str]:
    """The events' types, a status with what it says."""
    return [_kind(event) for event in events]


def _kind(event: Event) -> str:
    status = event.get("properties", {}).get("status")
    said = f" {status.get('type')}" if isinstance(status, dict) else ""
    return f"{event.get('type')}{said}"


def named(kind: str, events: Iterable[Event]) -> list[dict[str, Any]]:
    """The properties of the events of a type."""
    return [event["properties"] for event in events if _kind(event) == kind or event.get("type") == kind]


def idle(session: str, count: int = 1) -> Test:
    """Whether the session has become idle so often."""
    return lambda events: kinds(of(session, events)).count("session.idle") >= count


def has(kind: str, session: str, count: int = 1) -> Test:
    """Whether so many events of a type came of the session."""
    return lambda events: len(named(kind, of(session, events))) >= count


def errors(session: str, events: Iterable[Event]) -> list[dict[str, Any]]:
    """The errors of a session, in order."""
    return [properties.get("error", {}) for properties in named("session.error", of(session, events))]


def parts(events: Iterable[Event]) -> list[dict[str, Any]]:
    """The parts that were told, in order, each as often as it was told."""
    return [properties["part"] for properties in named("message.part.updated", events)]


def text_of_deltas(events: Iterable[Event], part: str) -> str:
    """The joined deltas of a part."""
    deltas = named("message.part.delta", events)
    return "".join(str(delta.get("delta")) for delta in deltas if delta.get("partID") == part)


def calls_with(journal: JournalReader, label: str, word: str) -> list[Exchange]:
    """The model calls that hold `word`, when no more come."""
    return [call for call in journal.read(label, "model") if word.encode() in call.request.body]


def await_calls(journal: JournalReader, label: str, word: str, count: int = 1) -> list[Exchange]:
    """The model calls that hold `word`, once there are so many; raises Inconclusive when they do not come."""

    def made(seen: tuple[Exchange, ...]) -> list[Exchange]:
        return [call for call in seen if word.encode() in call.request.body]

    found = made(journal.wait(label, "model", lambda seen: len(made(seen)) >= count, WITHIN))
    if len(found) < count:
        raise Inconclusive(f"{len(found)} model calls where {count} were waited for")
    return found


def ids_in(listed: Exchange) -> list[str]:
    """The ids of what a list holds; none for an answer that is no list."""
    entries = listed.json()
    return [str(entry.get("id")) for entry in entries if isinstance(entry, dict)] if isinstance(entries, list) else []


def expect_not_found(reply: Exchange, message: str) -> None:
    """404 with a NotFoundError that says so."""
    wanted = {"name": "NotFoundError", "data": {"message": message}}
    expect(reply.status == 404 and reply.json() == wanted, f"404 {wanted}", shown(reply), "do as opencode does", reply)


def expect_unknown_error(reply: Exchange) -> None:
    """500 with an UnknownError that has a reference."""
    body = reply.json() if isinstance(reply.json(), dict) else {}
    data = body["data"] if isinstance(body.get("data"), dict) else {}
    told = str(data.get("message")).startswith("Unexpected server error") and str(data.get("ref")).startswith("err_")
    right = reply.status == 500 and body.get("name") == "UnknownError" and told
    expect(right, "500 UnknownError with a reference", shown(reply), "do as opencode does", reply)
