"""Endpoints that let in whom they should not, or that list or serve agents wrongly."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from contextvars import ContextVar
from dataclasses import replace
from difflib import get_close_matches
from typing import Any
from unicodedata import normalize
from urllib.parse import unquote

from harness.mutants.mutant import Mutant, changing
from harness.reference.endpoint.access import authenticate, bearer, list_agents, refuse_key
from harness.reference.endpoint.agents import Agents, Model, describe, model_of
from harness.reference.endpoint.chat_request import ChatRequest, parse
from harness.reference.endpoint.driver import Why, abort_turn
from harness.reference.endpoint.envelope import Refusal
from harness.reference.endpoint.keys import Key, KeyStore, digest
from harness.reference.endpoint.opencode import Opencode
from harness.reference.endpoint.parts import Parts
from harness.reference.endpoint.turn import Failure, Reply, Step, Turn

_NOBODY = Key("", ("?",), 0.0, None, None, revoked=False)
_KEY_LENGTH = 52
"""Characters of the keys that are minted."""

_ALIKE = 0.82
_asking: ContextVar[Key] = ContextVar("asking")
_pool: list[Key] = []


class _KeepsKey:
    """Takes a request without a key for one of whoever came last."""

    def __init__(self) -> None:
        self._last: Key | None = None

    def authenticate(self, header: str | None, store: KeyStore, now: float, parts: Parts) -> Key:
        if self._last is None or bearer(header):
            self._last = authenticate(header, store, now, parts)
        return self._last


def _any_scheme(header: str | None, store: KeyStore, now: float, parts: Parts) -> Key:
    *_, token = (header or "").split(" ")
    return authenticate(f"Bearer {token}", store, now, parts)


def _known_keys_only(header: str | None, store: KeyStore, now: float, parts: Parts) -> Key:
    """Refuses no key but those that are known to be expired or revoked; who is unknown is the first that is known."""
    token = bearer(header)
    if token and store.find(token) is None:
        return store.list()[0]
    return authenticate(header, store, now, parts)


def _digest_of_head(secret: str) -> str:
    return digest(secret[:_KEY_LENGTH])


def _repeat_key(header: str | None, store: KeyStore, now: float, parts: Parts) -> Key:
    try:
        return authenticate(header, store, now, parts)
    except Refusal as refusal:
        refusal.message = f"Incorrect API key provided: {bearer(header)}."
        raise


def _key_later(header: str | None, store: KeyStore, now: float, parts: Parts) -> Key:
    try:
        return authenticate(header, store, now, parts)
    except Refusal:
        return _NOBODY


def _scope_with_key(key: Key, agents: Agents, agent: str) -> bool:
    if key is _NOBODY:
        raise refuse_key(None)
    return agent in key.agent_ids and agent in agents


def _list_with_key(key: Key, agents: Agents) -> list[str]:
    if key is _NOBODY:
        raise refuse_key(None)
    return list_agents(key, agents)


def _no_challenge(header: str | None, store: KeyStore, now: float, parts: Parts) -> Key:
    try:
        return authenticate(header, store, now, parts)
    except Refusal as refusal:
        refusal.headers.clear()
        raise


def _list_all(_key: Key, agents: Agents) -> list[str]:
    return list(agents)


def _list_with_model(key: Key, agents: Agents) -> list[str]:
    return [agent for agent in list_agents(key, agents) if agents[agent] is not None]


def _tell_consent(key: Key, agents: Agents, agent: str) -> bool:
    if agent in agents and agent not in key.agent_ids:
        raise Refusal(404, f"You have not consented to {agent!r}.", code="model_not_found", param="model")
    return agent in key.agent_ids and agent in agents


class _DefaultAgent:
    """Serves whoever asks for an agent that does not exist with the first that there is."""

    @staticmethod
    def in_scope(key: Key, agents: Agents, agent: str) -> bool:
        return agent in key.agent_ids or agent not in agents

    @staticmethod
    def model_of(agents: Agents, agent: str) -> Model:
        return model_of(agents, agent if agent in agents else next(name for name, model in agents.items() if model))


def _closest(agents: Iterable[str], agent: str) -> str:
    return next(iter(get_close_matches(agent, list(agents), 1, _ALIKE)), agent)


def _in_scope_nearly(key: Key, agents: Agents, agent: str) -> bool:
    return _closest(key.agent_ids, agent) in agents and _closest(key.agent_ids, agent) in key.agent_ids


def _model_of_nearest(agents: Agents, agent: str) -> Model:
    return model_of(agents, _closest(agents, agent))


def _list_of_one(agent: str) -> dict[str, Any]:
    return {"object": "list", "data": [describe(agent)]}


def _note_key(header: str | None, store: KeyStore, now: float, parts: Parts) -> Key:
    key = authenticate(header, store, now, parts)
    _asking.set(key)
    return key


class _PoolsKeys(Turn):
    def __init__(self, session: str) -> None:
        super().__init__(session)
        self.key = _asking.get()
        _pool.append(self.key)

    def feed(self, event: dict[str, Any]) -> list[Step]:
        steps = super().feed(event)
        if any(isinstance(step, Reply | Failure) for step in steps):
            self.leave()
        return steps

    def leave(self) -> None:
        with suppress(ValueError):
            _pool.remove(self.key)


async def _leave_pool(opencode: Opencode, turn: Turn, why: Why) -> None:
    assert isinstance(turn, _PoolsKeys)
    turn.leave()
    await abort_turn(opencode, turn, why)


def _scope_of_pool(key: Key, agents: Agents, agent: str) -> bool:
    return agent in agents and any(agent in each.agent_ids for each in (key, *_pool))


def _with_model(change: Callable[[str], str]) -> Callable[[bytes, Parts], ChatRequest]:
    def read(body: bytes, parts: Parts) -> ChatRequest:
        chat = parse(body, parts)
        return replace(chat, model=change(chat.model))

    return read


ACCESS: tuple[Mutant[Parts], ...] = (
    changing(
        "key_after_body",
        "reads the body before it checks the key",
        "AE-AUTH-2",
        "AE-REQ-8",
        authenticate=_key_later,
        in_scope=_scope_with_key,
        list_agents=_list_with_key,
    ),
    changing("no_challenge", "answers 401 without WWW-Authenticate", "AE-AUTH-3", authenticate=_no_challenge),
    changing("every_agent_listed", "lists every agent that exists", "AE-MODELS-1", list_agents=_list_all),
    changing("modelless_hidden", "lists agents with a model only", "AE-MODELS-1", list_agents=_list_with_model),
    changing("consent_told", "tells agents without consent from unknown ones", "AE-SCOPE-2", in_scope=_tell_consent),
    changing("case_ignored", "ignores the case of model ids", "AE-SCOPE-3", parse=_with_model(str.lower)),
    changing("model_trimmed", "trims space off model ids", "AE-SCOPE-3", parse=_with_model(str.strip)),
    changing(
        "provider_cut",
        "takes a provider off model ids",
        "AE-SCOPE-3",
        parse=_with_model(lambda model: model.removeprefix("openai/")),
    ),
    changing(
        "last_slash_cut",
        "takes a slash off the end of model ids",
        "AE-SCOPE-3",
        parse=_with_model(lambda model: model.removesuffix("/")),
    ),
    changing("model_decoded", "percent-decodes model ids", "AE-SCOPE-3", parse=_with_model(unquote)),
    changing(
        "model_normalised",
        "brings model ids into a compatibility form",
        "AE-SCOPE-3",
        parse=_with_model(lambda model: normalize("NFKC", model)),
    ),
    changing(
        "slashed_agent_cut",
        "takes what follows the last slash for the agent",
        "AE-SCOPE-3",
        "AE-SCOPE-4",
        "AE-TURN-9",
        parse=_with_model(lambda model: model.rpartition("/")[2]),
    ),
    changing(
        "keys_pooled",
        "lends the agents of every key with a turn under way",
        "AE-SCOPE-5",
        authenticate=_note_key,
        make_turn=_PoolsKeys,
        give_up=_leave_pool,
        in_scope=_scope_of_pool,
    ),
    changing(
        "last_key_kept",
        "takes no key for the last one's",
        "AE-AUTH-1",
        "AE-AUTH-2",
        "AE-AUTH-3",
        "AE-ENV-1",
        "AE-ENV-2",
        "AE-REQ-8",
        authenticate=_KeepsKey().authenticate,
    ),
    changing("scheme_ignored", "takes a key in any scheme, or in none", "AE-AUTH-1", authenticate=_any_scheme),
    changing(
        "unknown_key_works",
        "refuses only keys that it knows",
        "AE-AUTH-1",
        "AE-AUTH-2",
        "AE-AUTH-3",
        "AE-CLIENT-1",
        "AE-ENV-1",
        "AE-ENV-2",
        "AE-REQ-8",
        authenticate=_known_keys_only,
    ),
    changing("key_cut", "reads a key as far as its keys are long", "AE-AUTH-1", digest=_digest_of_head),
    changing("key_repeated", "repeats a refused key", "AE-AUTH-1", "AE-FAULT-8", authenticate=_repeat_key),
    changing(
        "unknown_is_default",
        "takes its first agent where one is asked for that does not exist",
        "AE-SCOPE-1",
        "AE-CLIENT-1",
        "AE-ENV-1",
        "AE-ENV-2",
        "AE-REQ-8",
        "AE-SCOPE-2",
        "AE-SCOPE-3",
        "AE-SCOPE-4",
        in_scope=_DefaultAgent.in_scope,
        model_of=_DefaultAgent.model_of,
    ),
    changing(
        "closest_agent",
        "takes the agent whose name is most like the one that was asked for",
        "AE-SCOPE-3",
        in_scope=_in_scope_nearly,
        model_of=_model_of_nearest,
    ),
    changing("model_route_cut", "routes ids without a slash only", "AE-MODELS-2", one_model="/v1/models/{id}"),
    changing("model_in_list", "describes a model in a list of one", "AE-MODELS-2", describe_model=_list_of_one),
)
