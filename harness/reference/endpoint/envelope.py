"""OpenAI's error envelope: what every refusal looks like on the wire."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from starlette.exceptions import HTTPException
from starlette.responses import Response

from harness.reference.endpoint.rendering import json_response
from harness.reference.endpoint.turn import Failure


class Refusal(Exception):
    """A request that is not answered with a completion; `message` is for the client and holds no internals."""

    def __init__(
        self,
        status: int,
        message: str,
        *,
        type: str = "invalid_request_error",
        code: str | None = None,
        param: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(message)
        self.status, self.message, self.headers = status, message, dict(headers or {})
        self.type, self.code, self.param = type, code, param


def not_routed(error: HTTPException) -> Refusal:
    """The refusal of a path or a method that there is not; it tells the methods that there are."""
    return Refusal(error.status_code, f"{error.detail}.", headers=error.headers)


def error_body(refusal: Refusal) -> dict[str, Any]:
    """The envelope: `{"error": {message, type, code, param}}`."""
    error = {"message": refusal.message, "type": refusal.type, "code": refusal.code, "param": refusal.param}
    return {"error": error}


def error_response(refusal: Refusal) -> Response:
    """The refusal as a JSON answer."""
    return json_response(error_body(refusal), refusal.status, refusal.headers)


def turn_failed(_failure: Failure) -> Refusal:
    """What a client learns of a failed turn: that it failed. Trying again would only run the agent again."""
    return Refusal(
        502,
        "The agent did not complete its turn.",
        type="server_error",
        code="agent_error",
        headers={"x-should-retry": "false"},
    )
