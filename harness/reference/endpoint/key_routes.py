"""The routes by which an owner mints, lists and revokes keys."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from harness.reference.endpoint.config import Config
from harness.reference.endpoint.envelope import Refusal
from harness.reference.endpoint.keys import KeyStore
from harness.reference.endpoint.rendering import json_response

if TYPE_CHECKING:
    from harness.reference.endpoint.parts import Parts

PATH = "/api/agent-model-keys"
_FOREVER = 1e11


class KeyRoutes:
    """The routes, for the owner's session only: an agent must not widen its own rights."""

    def __init__(self, config: Config, store: KeyStore, parts: Parts) -> None:
        self._config, self._store, self._parts = config, store, parts
        self.routes = [
            Route(PATH, self.mint, methods=["POST"]),
            Route(PATH, self.list, methods=["GET"]),
            Route(PATH + "/{id}", self.revoke, methods=["DELETE"]),
        ]

    async def mint(self, request: Request) -> Response:
        """A new key, with its secret for the only time."""
        self._require_owner(request)
        try:
            fields = json.loads(await request.body())
        except (ValueError, RecursionError):
            raise Refusal(400, "The body is not JSON.") from None
        if not isinstance(fields, dict):
            raise Refusal(400, "The body must be a JSON object.")
        agent_ids = self._parts.read_agent_ids(fields.get("agent_ids"), self._config.agents)
        key, secret = self._store.mint(agent_ids, _expires_in(fields), self._rate_cap(fields))
        return json_response(self._parts.describe_key(key, secret), 201)

    async def list(self, request: Request) -> Response:
        """All keys, without their secrets."""
        self._require_owner(request)
        keys = [self._parts.describe_key(key, None) for key in self._store.list()]
        return json_response({"object": "list", "data": keys})

    async def revoke(self, request: Request) -> Response:
        """End a key."""
        self._require_owner(request)
        if not self._store.revoke(request.path_params["id"]):
            raise Refusal(404, "There is no such key.", code="key_not_found")
        return Response(status_code=204)

    def _require_owner(self, request: Request) -> None:
        self._parts.check_owner(request.headers.get("authorization"), self._config)

    def _rate_cap(self, fields: dict[str, Any]) -> int | None:
        cap = fields.get("rate_cap")
        if cap is None:
            return self._config.rate_cap_default
        if not isinstance(cap, int) or isinstance(cap, bool) or not 0 < cap < 2**31:
            raise Refusal(400, "`rate_cap` must be a number of turns per minute, or null.", param="rate_cap")
        return cap


def _expires_in(fields: dict[str, Any]) -> float | None:
    seconds = fields.get("expires_in")
    if seconds is None:
        return None
    if isinstance(seconds, bool) or not isinstance(seconds, int | float) or not abs(seconds) < _FOREVER:
        raise Refusal(400, "`expires_in` must be a number of seconds, or null.", param="expires_in")
    return float(seconds)
