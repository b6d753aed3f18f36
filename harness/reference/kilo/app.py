"""The agent as an ASGI application: `POST /v1/responses` and `POST /run`, inside a rollout or not."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from harness.reference.endpoint.rendering import json_response
from harness.reference.kilo.agent import Agent
from harness.reference.kilo.config import Config
from harness.reference.kilo.parts import Parts
from harness.reference.kilo.refusal import Refusal, refusal_response


class RolloutPrefix:
    """Takes the prefix `/ng-rollout/<id>` off the path and keeps the id in the scope."""

    def __init__(self, app: ASGIApp, parts: Parts) -> None:
        self._app, self._parts = app, parts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Part of ASGI."""
        if scope["type"] == "http":
            path, rollout = self._parts.split_rollout(scope["path"])
            scope = {**scope, "path": path, "raw_path": path.encode(), "rollout": rollout}
        await self._app(scope, receive, send)


class Routes:
    """The agent's routes."""

    def __init__(self, config: Config, agent: Agent, parts: Parts) -> None:
        self._config, self._agent, self._parts = config, agent, parts
        self.routes = [
            Route("/health", self.health, methods=["GET"]),
            Route("/v1/responses", self.responses, methods=["POST"]),
            Route("/run", self.run, methods=["POST"]),
        ]

    async def health(self, _request: Request) -> Response:
        """The agent is there."""
        return json_response({"status": "ok"})

    async def responses(self, request: Request) -> Response:
        """A response to a conversation."""
        return json_response(await self._agent.respond(await _body(request), request.scope["rollout"]))

    async def run(self, request: Request) -> Response:
        """A whole rollout: seeded, run and verified."""
        body = await _body(request)
        if self._config.resources_server is None:
            raise Refusal(400, "No resources server is configured: use /v1/responses.")
        if "responses_create_params" not in body:
            raise Refusal(400, "responses_create_params are missing.", "responses_create_params")
        respond = partial(self._agent.respond, body["responses_create_params"], request.scope["rollout"])
        return json_response(await self._parts.roll_out(self._config.resources_server, body, respond))


def create_app(config: Config, parts: Parts | None = None) -> Starlette:
    """The agent; `parts` exchanges some of its small decisions."""
    parts = parts or Parts()
    agent = Agent(config, parts)

    @asynccontextmanager
    async def lifespan(_app: Starlette) -> AsyncIterator[None]:
        yield
        agent.close()

    return Starlette(
        routes=Routes(config, agent, parts).routes,
        middleware=[Middleware(RolloutPrefix, parts)],
        exception_handlers={Refusal: _on_refusal, HTTPException: _on_http, Exception: _on_crash},
        lifespan=lifespan,
    )


async def _body(request: Request) -> dict[str, Any]:
    try:
        body = json.loads(await request.body())
    except (ValueError, RecursionError):
        raise Refusal(400, "The body is not JSON.") from None
    if not isinstance(body, dict):
        raise Refusal(400, "The body must be a JSON object.")
    return body


async def _on_refusal(_request: Request, error: Exception) -> Response:
    assert isinstance(error, Refusal)
    return refusal_response(error)


async def _on_http(_request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    return refusal_response(Refusal(error.status_code, f"{error.detail}."))


async def _on_crash(_request: Request, _error: Exception) -> Response:
    return refusal_response(Refusal(500, "Something is wrong with this server."))
