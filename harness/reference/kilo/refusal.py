"""Requests that are not run, and what their answers look like."""

from __future__ import annotations

from starlette.responses import Response

from harness.reference.endpoint.rendering import json_response


class Refusal(Exception):
    """A request that leads to no run; `message` is for the client."""

    def __init__(self, status: int, message: str, param: str | None = None, type: str | None = None) -> None:
        super().__init__(message)
        self.status, self.message, self.param = status, message, param
        self.type = type or ("server_error" if status >= 500 else "invalid_request_error")


def refusal_response(refusal: Refusal) -> Response:
    """The refusal in OpenAI's error envelope."""
    error = {"message": refusal.message, "type": refusal.type, "code": None, "param": refusal.param}
    return json_response({"error": error}, refusal.status)
