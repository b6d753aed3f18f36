"""One request and its answer, as seen on a hop of the chain: the unit of evidence."""

from __future__ import annotations

import base64
import json
from dataclasses import dataclass
from typing import Any, Literal, cast

Headers = tuple[tuple[str, str], ...]

Hop = Literal["client", "opencode", "proxy", "model", "provider", "resources"]
"""`client`: ours to the target; `opencode`: the target to its opencode; `proxy`: opencode to a proxy; `model`:
opencode, a proxy or the CLI of an agent to the model server of ours; `provider`: the same to one that is not ours;
`resources`: an agent to the server that seeds and verifies its rollouts."""

End = Literal["open", "complete", "cut", "gone", "failed"]
"""How an answer ended: still `open`, `complete`, `cut` off by the answering side, `gone` because the asking
side left, or `failed` before any status line."""


def header(headers: Headers, name: str) -> str | None:
    """The first value of header `name` (any letter case), or None."""
    return next((value for key, value in headers if key.lower() == name.lower()), None)


@dataclass(frozen=True)
class Request:
    """An HTTP request. `target` is the path with its query; `body` is the body's bytes after de-chunking."""

    method: str
    target: str
    headers: Headers = ()
    body: bytes = b""

    @property
    def path(self) -> str:
        """The target without its query."""
        return self.target.split("?", 1)[0]

    def json(self) -> Any:
        """The body as JSON, or None when it is none."""
        return parse_json(self.body)


@dataclass(frozen=True)
class Chunk:
    """A piece of a body, and when it came: seconds since the request was sent or received."""

    at: float
    data: bytes


@dataclass(frozen=True)
class Exchange:
    """A request with what came back.

    `number` is unique in a run. `began` is in seconds since the run began, `duration` in seconds (None while
    open). `status` is None when no status line came. `fault` says what our side did wrong on purpose, `error`
    what went wrong by itself.
    """

    number: int
    hop: Hop
    request: Request
    began: float
    label: str | None = None
    status: int | None = None
    headers: Headers = ()
    chunks: tuple[Chunk, ...] = ()
    end: End = "open"
    duration: float | None = None
    fault: str | None = None
    error: str | None = None

    @property
    def body(self) -> bytes:
        """The answer's body as far as it came."""
        return b"".join(chunk.data for chunk in self.chunks)

    @property
    def text(self) -> str:
        """The answer's body as text; what is not UTF-8 is replaced."""
        return self.body.decode("utf-8", "replace")

    def json(self) -> Any:
        """The answer's body as JSON, or None when it is none."""
        return parse_json(self.body)

    def header(self, name: str) -> str | None:
        """The first value of the answer's header `name`, or None."""
        return header(self.headers, name)

    @property
    def content_type(self) -> str:
        """The answer's media type in lower case without parameters; empty when there is none."""
        return (self.header("content-type") or "").split(";")[0].strip().lower()


def parse_json(data: bytes) -> Any:
    """`data` as JSON, or None when it is not JSON."""
    try:
        return json.loads(data)
    except (ValueError, RecursionError):
        return None


def bytes_to_json(data: bytes) -> Any:
    """Bytes as a JSON value: a string when they are UTF-8, else `{"base64": ...}`."""
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(data).decode("ascii")}


def bytes_from_json(value: Any) -> bytes:
    """The inverse of `bytes_to_json`."""
    return base64.b64decode(value["base64"]) if isinstance(value, dict) else cast("str", value).encode("utf-8")


def request_to_json(request: Request) -> dict[str, Any]:
    """A request as a JSON object (schema: `results.schema.json`)."""
    return {
        "method": request.method,
        "target": request.target,
        "headers": [list(pair) for pair in request.headers],
        "body": bytes_to_json(request.body),
    }


def request_from_json(value: dict[str, Any]) -> Request:
    """The inverse of `request_to_json`."""
    return Request(
        value["method"],
        value["target"],
        tuple((key, val) for key, val in value["headers"]),
        bytes_from_json(value["body"]),
    )


def exchange_to_json(exchange: Exchange) -> dict[str, Any]:
    """An exchange as a JSON object (schema: `results.schema.json`)."""
    return {
        "number": exchange.number,
        "hop": exchange.hop,
        "label": exchange.label,
        "began": round(exchange.began, 6),
        "request": request_to_json(exchange.request),
        "status": exchange.status,
        "headers": [list(pair) for pair in exchange.headers],
        "chunks": [[round(chunk.at, 6), bytes_to_json(chunk.data)] for chunk in exchange.chunks],
        "end": exchange.end,
        "duration": None if exchange.duration is None else round(exchange.duration, 6),
        "fault": exchange.fault,
        "error": exchange.error,
    }


def exchange_from_json(value: dict[str, Any]) -> Exchange:
    """The inverse of `exchange_to_json`."""
    return Exchange(
        number=value["number"],
        hop=value["hop"],
        label=value["label"],
        began=value["began"],
        request=request_from_json(value["request"]),
        status=value["status"],
        headers=tuple((key, val) for key, val in value["headers"]),
        chunks=tuple(Chunk(at, bytes_from_json(data)) for at, data in value["chunks"]),
        end=value["end"],
        duration=value["duration"],
        fault=value["fault"],
        error=value["error"],
    )
