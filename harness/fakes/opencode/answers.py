"""What a route answers: data, made without I/O."""

from __future__ import annotations

import json
import secrets
from dataclasses import dataclass
from typing import Any, Literal

from harness.exchange import Headers
from harness.fakes.http import encode_head

_JSON: Headers = (("content-type", "application/json"),)
PAGE = b'<!doctype html>\n<html lang="en"><head><title>opencode</title></head><body></body></html>\n'


@dataclass(frozen=True)
class Answer:
    """Status, headers and body."""

    status: int
    headers: Headers = ()
    body: bytes = b""

    def encoded(self) -> bytes:
        """The answer as it goes over the wire."""
        length = ("content-length", str(len(self.body)))
        return encode_head(self.status, (*self.headers, ("vary", "Origin"), length)) + self.body


def json_answer(value: Any, status: int = 200) -> Answer:
    """A JSON value."""
    return Answer(status, _JSON, json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode())


def unauthorized() -> Answer:
    """The refusal of a request without the server's user and password."""
    return Answer(401, (("www-authenticate", 'Basic realm="Secure Area"'),))


def page() -> Answer:
    """The web application, which is under every path that is no route."""
    return Answer(200, (("content-type", "text/html"),), PAGE)


class Refused(Exception):
    """A request is refused with `answer`."""

    def __init__(self, answer: Answer) -> None:
        super().__init__(answer.status)
        self.answer = answer


def not_found(message: str) -> Refused:
    """A thing that does not exist."""
    return Refused(json_answer({"name": "NotFoundError", "data": {"message": message}}, 404))


def unknown_error() -> Refused:
    """A request at which the server breaks: an id that is none, a body that is not JSON."""
    data = {
        "message": "Unexpected server error. Check server logs for details.",
        "ref": f"err_{secrets.token_hex(4)}",
    }
    return Refused(json_answer({"name": "UnknownError", "data": data}, 500))


Place = Literal["Payload", "Params", "Query"]


def bad_request(message: str, kind: Place = "Payload") -> Refused:
    """A body (or what the path or the query names) of the wrong shape, on the routes that say where."""
    return Refused(json_answer({"name": "BadRequest", "data": {"message": message, "kind": kind}}, 400))


def bad_tag() -> Refused:
    """A body of the wrong shape, on the routes that do not say where."""
    return Refused(json_answer({"_tag": "BadRequest"}, 400))
