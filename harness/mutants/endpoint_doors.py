"""Endpoints that let in, or tell, on one way what they do not on another."""

from __future__ import annotations

from contextlib import suppress
from contextvars import ContextVar
from typing import Any, Literal

from harness.mutants.mutant import Mutant, changing
from harness.reference.endpoint.access import authenticate, bearer, in_scope, list_agents, refuse_key, unauthorized
from harness.reference.endpoint.agents import Agents, model_of
from harness.reference.endpoint.chat_request import ChatRequest, parse
from harness.reference.endpoint.envelope import Refusal
from harness.reference.endpoint.key_policy import describe_key
from harness.reference.endpoint.keys import Key, KeyStore, digest
from harness.reference.endpoint.parts import Parts

_NOBODY = Key("", (), 0.0, None, None, revoked=False)
_SHORTEST = 8
"""Characters of a key's beginning that it takes for the key."""

_let_in: ContextVar[Literal["good", "former", "nobody"]] = ContextVar("let_in", default="good")
_completing: ContextVar[bool] = ContextVar("completing", default=False)


class _Beginnings:
    """Knows a key by how it begins."""

    def __init__(self) -> None:
        self._secrets: list[str] = []

    def describe_key(self, key: Key, secret: str | None) -> dict[str, Any]:
        if secret is not None:
            self._secrets.append(secret)
        return describe_key(key, secret)

    def authenticate(self, header: str | None, store: KeyStore, now: float, parts: Parts) -> Key:
        token = bearer(header)
        if len(token) >= _SHORTEST:
            token = next((secret for secret in self._secrets if secret.startswith(token)), token)
        return authenticate(f"Bearer {token}", store, now, parts)


def _digest_of_small_letters(secret: str) -> str:
    return digest(secret.lower())


def _former_later(header: str | None, store: KeyStore, now: float, parts: Parts) -> Key:
    """Lets in who has a key that is no longer good: where something is asked for it is looked at again."""
    key = store.find(bearer(header)) if bearer(header) else None
    former = key is not None and not parts.accepts(key, now)
    _let_in.set("former" if former else "good")
    return key if former and key is not None else authenticate(header, store, now, parts)


def _nobody_later(header: str | None, store: KeyStore, now: float, parts: Parts) -> Key:
    """Lets in who has no key, likewise."""
    _let_in.set("good")
    try:
        return authenticate(header, store, now, parts)
    except Refusal:
        _let_in.set("nobody")
        return _NOBODY


def _expect_good() -> None:
    if _let_in.get() != "good":
        raise refuse_key(None)


def _list_for_good(key: Key, agents: Agents) -> list[str]:
    _expect_good()
    return list_agents(key, agents)


def _scope_for_good(key: Key, agents: Agents, agent: str) -> bool:
    _expect_good()
    return in_scope(key, agents, agent)


def _scope_of_nobody(key: Key, agents: Agents, agent: str) -> bool:
    return agent in agents if key is _NOBODY else in_scope(key, agents, agent)


def _parse_for_good(body: bytes, parts: Parts) -> ChatRequest:
    _expect_good()
    return parse(body, parts)


def _parse_or_tell(body: bytes, parts: Parts) -> ChatRequest:
    if _let_in.get() == "former":
        told = unauthorized("The API key is not valid any more.")
        told.code = "expired_api_key"
        raise told
    return parse(body, parts)


def _parse_streams(body: bytes, parts: Parts) -> ChatRequest:
    if _let_in.get() == "former":
        with suppress(Refusal):
            if parse(body, parts).stream:
                _let_in.set("good")
    return _parse_for_good(body, parts)


def _parse_noting(body: bytes, parts: Parts) -> ChatRequest:
    _completing.set(True)
    return parse(body, parts)


def _scope_told_of_models(key: Key, agents: Agents, agent: str) -> bool:
    if agent in agents and agent not in key.agent_ids and not _completing.get():
        raise Refusal(404, f"You may not use {agent!r}.", code="model_not_found", param="model")
    return in_scope(key, agents, agent)


def _model_before_scope(key: Key, agents: Agents, agent: str) -> bool:
    if agent in agents and agent not in key.agent_ids:
        model_of(agents, agent)
    return in_scope(key, agents, agent)


_beginnings = _Beginnings()

DOORS: tuple[Mutant[Parts], ...] = (
    changing(
        "key_by_beginning",
        "takes the beginning of a key for the key",
        "AE-AUTH-1",
        describe_key=_beginnings.describe_key,
        authenticate=_beginnings.authenticate,
    ),
    changing("key_case_ignored", "ignores the case of keys", "AE-AUTH-1", digest=_digest_of_small_letters),
    changing(
        "former_key_streams",
        "streams to keys that are no longer good",
        "AE-AUTH-1",
        "AE-KEYS-4",
        authenticate=_former_later,
        parse=_parse_streams,
        list_agents=_list_for_good,
        in_scope=_scope_for_good,
    ),
    changing(
        "former_key_told_late",
        "tells known keys from unknown ones where a completion is asked for",
        "AE-AUTH-1",
        authenticate=_former_later,
        parse=_parse_or_tell,
        list_agents=_list_for_good,
        in_scope=_scope_for_good,
    ),
    changing(
        "model_route_open",
        "describes a single model to anybody",
        "AE-AUTH-1",
        authenticate=_nobody_later,
        parse=_parse_for_good,
        list_agents=_list_for_good,
        in_scope=_scope_of_nobody,
    ),
    changing(
        "model_route_tells",
        "tells agents without consent from unknown ones where it describes single models",
        "AE-SCOPE-2",
        parse=_parse_noting,
        in_scope=_scope_told_of_models,
    ),
    changing(
        "model_before_scope",
        "tells of an agent that it has no model before it looks who asks",
        "AE-SCOPE-1",
        "AE-SCOPE-2",
        in_scope=_model_before_scope,
    ),
)
