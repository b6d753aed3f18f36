"""Calls of the model server: streaming chat completions over the standard library's HTTP client."""

from __future__ import annotations

import http.client
import json
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple
from urllib.parse import urlsplit


class Refused(Exception):
    """An answer that is not a completion: status, headers and body."""

    def __init__(self, status: int, headers: Mapping[str, str], body: str) -> None:
        super().__init__(f"{status}: {body[:200]}")
        self.status, self.headers, self.body = status, headers, body

    @property
    def message(self) -> str:
        """What the server says is wrong."""
        try:
            said = json.loads(self.body)
        except ValueError:
            return self.body
        error = said.get("error", said) if isinstance(said, dict) else said
        return str(error.get("message", self.body)) if isinstance(error, dict) else str(error)


class BadChunk(Exception):
    """An event of the stream that is not JSON: the complaint about it."""


class ErrorChunk(Exception):
    """An event of the stream that tells of an error: what it tells."""

    def __init__(self, error: dict[str, Any]) -> None:
        super().__init__(str(error.get("message", "")))
        self.error = error


class Endpoint(NamedTuple):
    """Where the calls go: the base URL with `/v1`, the key, and a proxy's address or None."""

    base_url: str
    key: str
    proxy: str | None


def stream(endpoint: Endpoint, body: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """The chunks of a completion.

    Raises Refused, BadChunk, ErrorChunk, and OSError or HTTPException for a connection that fails or breaks off.
    """
    target = f"{endpoint.base_url.rstrip('/')}/chat/completions"
    headers = {"content-type": "application/json", "authorization": f"Bearer {endpoint.key}", "accept": "*/*"}
    connection, path = _connection(endpoint.proxy, target)
    try:
        connection.request("POST", path, json.dumps(body, ensure_ascii=False).encode("utf-8", "replace"), headers)
        answer = connection.getresponse()
        if answer.status != 200:
            raise Refused(answer.status, dict(answer.getheaders()), answer.read().decode("utf-8", "replace"))
        yield from _events(answer)
    finally:
        connection.close()


def list_models(endpoint: Endpoint) -> None:
    """Ask for the provider's models, and do nothing with them."""
    connection, path = _connection(endpoint.proxy, f"{endpoint.base_url.rstrip('/')}/models")
    connection.request("GET", path)
    connection.getresponse().read()
    connection.close()


def _connection(proxy: str | None, url: str) -> tuple[http.client.HTTPConnection, str]:
    parts = urlsplit(url)
    kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
    path = f"{parts.path}?{parts.query}" if parts.query else parts.path
    if proxy is None:
        return kind(parts.hostname or "", parts.port), path
    through = urlsplit(proxy)
    if parts.scheme == "https":
        connection = kind(through.hostname or "", through.port)
        connection.set_tunnel(parts.hostname or "", parts.port)
        return connection, path
    return http.client.HTTPConnection(through.hostname or "", through.port), url


def proxy_for(url: str, env: Mapping[str, str]) -> str | None:
    """The proxy that the environment names for `url`, unless it excepts the host."""
    parts = urlsplit(url)
    excepted = (env.get("no_proxy") or env.get("NO_PROXY") or "").replace(" ", "").split(",")
    if "*" in excepted or any(parts.hostname == name or parts.netloc == name for name in excepted):
        return None
    name = f"{parts.scheme}_proxy"
    return env.get(name) or env.get(name.upper()) or None


def _events(answer: http.client.HTTPResponse) -> Iterator[dict[str, Any]]:
    """The JSON of each `data:` line until `[DONE]`; one line each is what model servers send."""
    for line in iter(answer.readline, b""):
        if not line.startswith(b"data:"):
            continue
        data = line[5:].strip()
        if data == b"[DONE]":
            return
        try:
            chunk = json.loads(data)
        except ValueError as error:
            said = f"JSON parsing failed: Text: {data.decode('utf-8', 'replace')}."
            raise BadChunk(f"{said}\nError message: JSON Parse error: Unexpected EOF") from error
        if isinstance(chunk.get("error"), dict):
            raise ErrorChunk(chunk["error"])
        yield chunk
