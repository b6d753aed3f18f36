"""The endpoint as an ASGI application: an OpenAI-compatible API whose models are agents on an opencode server."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from harness.reference.endpoint.access import no_such_model
from harness.reference.endpoint.agents import describe
from harness.reference.endpoint.chat_request import ChatRequest
from harness.reference.endpoint.config import Config
from harness.reference.endpoint.driver import Driver, Say
from harness.reference.endpoint.envelope import Refusal, error_response
from harness.reference.endpoint.key_routes import KeyRoutes
from harness.reference.endpoint.keys import Key, KeyStore
from harness.reference.endpoint.opencode import Opencode
from harness.reference.endpoint.parts import Parts
from harness.reference.endpoint.rendering import json_response
from harness.reference.endpoint.turn import Outcome
from harness.reference.endpoint.turn_response import TurnResponse

MAX_BODY = 16 * 2**20
"""Bytes of the longest request body that is read."""


class KeyGuard:
    """Lets nobody in below `/v1` without a key, whatever else is right or wrong with the request."""

    def __init__(self, app: ASGIApp, store: KeyStore, parts: Parts) -> None:
        self._app, self._store, self._parts = app, store, parts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Part of ASGI."""
        if scope["type"] == "http" and f"{scope['path']}/".startswith("/v1/"):
            header = Request(scope).headers.get("authorization")
            try:
                scope["key"] = self._parts.authenticate(header, self._store, time.time(), self._parts)
            except Refusal as refusal:
                await self._parts.render_refusal(refusal)(scope, receive, send)
                return
        await self._app(scope, receive, send)


class Endpoint:
    """The routes below `/v1`."""

    def __init__(self, config: Config, opencode: Opencode, driver: Driver, parts: Parts) -> None:
        self._config, self._opencode, self._driver, self._parts = config, opencode, driver, parts
        self._agents = config.agents
        self._meter = parts.meter()
        self.routes = [
            Route("/v1/models", self.models, methods=["GET"]),
            Route(parts.one_model, self.model, methods=["GET"]),
            Route("/v1/chat/completions", self.completions, methods=["POST"]),
        ]

    async def models(self, request: Request) -> Response:
        """The key's agents."""
        key: Key = request.scope["key"]
        ids = self._parts.list_agents(key, self._agents)
        return json_response(self._parts.model_list([describe(agent) for agent in ids]))

    async def model(self, request: Request) -> Response:
        """One agent of the key's; its id may hold slashes."""
        agent = request.path_params["id"]
        if not self._parts.in_scope(request.scope["key"], self._agents, agent):
            raise no_such_model(agent)
        return json_response(self._parts.describe_model(agent))

    async def completions(self, request: Request) -> Response:
        """An agent's answer to a conversation."""
        key: Key = request.scope["key"]
        self._meter.count(key, time.monotonic())
        chat = self._parts.parse(await _body(request), self._parts)
        chat = replace(chat, stream=self._parts.streams(chat.stream, request.headers))
        drive = partial(self._drive, chat)
        if not self._parts.in_scope(key, self._agents, chat.model):
            raise await self._parts.refuse_agent(chat.model, drive)
        model = self._parts.model_of(self._agents, chat.model)
        return TurnResponse(chat, model, drive, self._parts)

    async def _drive(self, chat: ChatRequest, say: Say | None = None) -> Outcome:
        model = self._parts.model_of(self._agents, chat.model)
        opencode = self._opencode.at(self._config.folders.get(chat.model))
        drive = partial(self._driver.drive, opencode, model, self._parts.to_prompt(chat.messages))
        return await self._parts.run_turn(model, drive, say)


def create_app(config: Config, parts: Parts | None = None) -> Starlette:
    """The endpoint; `parts` exchanges some of its small decisions."""
    parts = parts or Parts()
    store, opencode = KeyStore(config.database, parts.digest), parts.make_opencode(config, parts.read_events)
    driver = Driver(parts, config.budget, config.abort_grace)

    @asynccontextmanager
    async def lifespan(_app: Starlette) -> AsyncIterator[None]:
        await opencode.open()
        yield
        await driver.finish()
        await opencode.close()
        store.close()

    app = Starlette(
        routes=[*Endpoint(config, opencode, driver, parts).routes, *KeyRoutes(config, store, parts).routes],
        middleware=[Middleware(KeyGuard, store, parts)],
        exception_handlers={
            Refusal: partial(_on_refusal, parts),
            HTTPException: partial(_on_http, parts),
            Exception: _on_crash,
        },
        lifespan=lifespan,
    )
    app.router.redirect_slashes = False
    return app


async def _body(request: Request) -> bytes:
    """The request's body; raises `Refusal` (413) when it is too long to be read."""
    body = bytearray()
    try:
        async for piece in request.stream():
            body += piece
            if len(body) > MAX_BODY:
                raise Refusal(413, f"The body is longer than {MAX_BODY} bytes.", headers={"connection": "close"})
    except ClientDisconnect:
        raise Refusal(400, "The body is not whole.") from None
    return bytes(body)


async def _on_refusal(parts: Parts, _request: Request, error: Exception) -> Response:
    assert isinstance(error, Refusal)
    return parts.render_refusal(error)


async def _on_http(parts: Parts, _request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    return parts.render_refusal(parts.not_routed(error))


async def _on_crash(_request: Request, _error: Exception) -> Response:
    return error_response(Refusal(500, "Something is wrong with this server.", type="server_error", code="internal"))
