"""The routes by which an owner mints, lists and revokes keys."""

from __future__ import annotations

import hmac
import json
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from harness.reference.endpoint.access import bearer, unauthorized
from harness.reference.endpoint.config import Config
from harness.reference.endpoint.envelope import Refusal
from harness.reference.endpoint.keys import Key, KeyStore
from harness.reference.endpoint.rendering import json_response

PATH = "/api/agent-model-keys"
_FOREVER = 1e11


class KeyRoutes:
    """The routes, for the owner's session only: an agent must not widen its own rights."""

    def __init__(self, config: Config, store: KeyStore) -> None:
        self._config, self._store = config, store
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
        agent_ids = self._agent_ids(fields.get("agent_ids"))
        key, secret = self._store.mint(agent_ids, _expires_in(fields), self._rate_cap(fields))
        return json_response(_describe(key) | {"key": secret}, 201)

    async def list(self, request: Request) -> Response:
        """All keys, without their secrets."""
        self._require_owner(request)
        return json_response({"object": "list", "data": [_describe(key) for key in self._store.list()]})

    async def revoke(self, request: Request) -> Response:
        """End a key."""
        self._require_owner(request)
        if not self._store.revoke(request.path_params["id"]):
            raise Refusal(404, "There is no such key.", code="key_not_found")
        return Response(status_code=204)

    def _require_owner(self, request: Request) -> None:
        token = bearer(request.headers.get("authorization")).encode()
        if hmac.compare_digest(token, self._config.owner_token.encode()):
            return
        registry = self._config.registry_token
        if registry is not None and hmac.compare_digest(token, registry.encode()):
            raise Refusal(403, "An agent cannot manage keys.", type="permission_error", code="owner_required")
        raise unauthorized("The owner's session is needed.")

    def _agent_ids(self, value: object) -> tuple[str, ...]:
        if not isinstance(value, list) or not value or not all(isinstance(item, str) for item in value):
            raise Refusal(400, "`agent_ids` must be a list of agent ids that is not empty.", param="agent_ids")
        if any(item not in self._config.agents for item in value):
            raise Refusal(404, "`agent_ids` names an agent that does not exist.", param="agent_ids")
        return tuple(dict.fromkeys(value))

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


def _describe(key: Key) -> dict[str, Any]:
    return {
        "id": key.id,
        "agent_ids": list(key.agent_ids),
        "created_at": key.created_at,
        "expires_at": key.expires_at,
        "rate_cap": key.rate_cap,
        "revoked": key.revoked,
    }
