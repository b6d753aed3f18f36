"""Small targets for tests, in this process, and what a run makes of them."""

from __future__ import annotations

import contextlib
import io
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from harness.engine import Engine
from harness.exchange import Request
from harness.fakes.http import HttpServer, Wire, encode_head
from harness.journal import Journal
from harness.launch import Launch
from harness.live import LiveTarget
from harness.redaction import Redactor
from harness.results import CheckResult, Footer, Results, Writer, read
from harness.subject import LiveSubject
from harness.target import Agent, Ready, Target
from harness.target_keys import FromEnvironment, Key
from tests.sample_results import results

KEY = "canned-key-0123456789"
Answering = Callable[[Request], tuple[int, Any]]


def answer(wire: Wire, status: int, body: Any, *headers: tuple[str, str]) -> None:
    """A whole answer: JSON, or bytes as they are."""
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    kind = () if isinstance(body, bytes) else (("content-type", "application/json"),)
    wire.write(encode_head(status, (*kind, *headers, ("content-length", str(len(data))))) + data)
    wire.done()


def answering(decide: Answering) -> Callable[[Request, Wire], None]:
    """A handler that answers what `decide` says."""
    return lambda request, wire: answer(wire, *decide(request))


@contextlib.contextmanager
def serving(engine: Engine, handler: Callable[[Request, Wire], None]) -> Iterator[str]:
    """The base URL of a server with this handler."""
    server = HttpServer(handler)
    engine.call(server.start(), 5)
    try:
        yield server.url
    finally:
        engine.call(server.stop(), 5)


def canned(request: Request) -> tuple[int, Any]:
    """An endpoint that keeps the rules on keys and agents, and says `ok` to every prompt."""
    authorization = next((value for name, value in request.headers if name.lower() == "authorization"), None)
    if authorization != f"Bearer {KEY}":
        return 401, _error("no such key", "invalid_api_key")
    if request.path == "/v1/models":
        models = [{"id": "solver", "object": "model", "created": 0, "owned_by": "house"}]
        return 200, {"object": "list", "data": models}
    body = request.json()
    if body["model"] != "solver":
        return 404, _error("no such model", "model_not_found")
    message = {"role": "assistant", "content": "ok"}
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    return 200, {"id": "c", "object": "chat.completion", "created": 1, "model": "solver", "choices": [choice]}


def _error(message: str, code: str) -> dict[str, Any]:
    return {"error": {"message": message, "type": "invalid_request_error", "code": code, "param": None}}


def target_at(address: str, **changes: Any) -> Target:
    """A target given by URL, with one agent and one key from the environment."""
    fields: dict[str, Any] = {
        "kind": "agent-endpoint",
        "name": "canned",
        "source": address,
        "folder": Path.cwd(),
        "url": address,
        "start": None,
        "ready": Ready(),
        "agents": (Agent("solver"),),
        "keys": (Key("main", "valid", ("solver",), FromEnvironment("CANNED_KEY")),),
        "deadline": 5.0,
    }
    return Target(**{**fields, **changes})


@contextlib.contextmanager
def launch_at(
    engine: Engine,
    address: str,
    journal: Journal | None = None,
    secrets: Mapping[str, str] | None = None,
    **changes: Any,
) -> Iterator[Launch]:
    """A launch of what already runs at `address`, with nothing of ours behind it; `secrets` are its keys, by name."""
    target = target_at(address, **changes)
    secrets = {"main": KEY} if secrets is None else secrets
    redactor = Redactor({f"key.{name}": secret for name, secret in secrets.items()})
    with LiveTarget(engine, journal or Journal(), address, secrets, target.deadline, None) as live:
        yield Launch(target, live, None, redactor)


def recorded(records: Sequence[dict[str, Any]], folder: Path) -> Results:
    """A finished run whose file holds these records, read back."""
    checks = [CheckResult.from_json(record) for record in records if record["record"] == "check"]
    header = results(checks).header
    stream = io.StringIO(newline="\n")
    writer = Writer(stream, Redactor())
    footer = Footer("finished", len(checks), len(checks), "2026-11-29T12:00:09Z")
    for record in (header.to_json(), *records, footer.to_json()):
        writer.write(record)
    path = folder / "recorded.jsonl"
    path.write_text(stream.getvalue(), encoding="utf-8", newline="\n")
    return read(path)


class Unwatched(LiveSubject):
    """Makes every check, though nothing may be there any more."""

    def stays_up(self) -> None:
        """Part of `Subject`."""
