"""Endpoints that mint, show, keep or end keys wrongly."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from starlette.responses import Response

from harness.mutants.mutant import Mutant, changing
from harness.reference.endpoint.access import accepts, authenticate, bearer
from harness.reference.endpoint.agents import Agents
from harness.reference.endpoint.config import Config
from harness.reference.endpoint.envelope import Refusal, error_response
from harness.reference.endpoint.key_policy import check_owner, describe_key, read_agent_ids
from harness.reference.endpoint.keys import Key, KeyStore
from harness.reference.endpoint.parts import Parts
from harness.reference.endpoint.rate_cap import RateMeter
from harness.reference.endpoint.rendering import json_response


def _anybody(_header: str | None, _config: Config) -> None:
    return


def _agent_too(header: str | None, config: Config) -> None:
    if config.registry_token is None or bearer(header) != config.registry_token:
        check_owner(header, config)


def _model_key_too(header: str | None, config: Config) -> None:
    if not bearer(header).startswith("sk-agent-"):
        check_owner(header, config)


class _Remembers:
    """Lists every key with its secret."""

    def __init__(self) -> None:
        self._secrets: dict[str, str] = {}

    def describe_key(self, key: Key, secret: str | None) -> dict[str, Any]:
        if secret is not None:
            self._secrets[key.id] = secret
        return describe_key(key, self._secrets.get(key.id))


def _as_it_is(secret: str) -> str:
    return secret


def _no_agent(value: object, agents: Agents) -> tuple[str, ...]:
    return () if value == [] or value is None else read_agent_ids(value, agents)


def _one_agent(value: object, agents: Agents) -> tuple[str, ...]:
    return read_agent_ids([value] if isinstance(value, str) else value, agents)


def _known_agents(value: object, agents: Agents) -> tuple[str, ...]:
    if isinstance(value, list) and any(item in agents for item in value):
        value = [item for item in value if item in agents]
    return read_agent_ids(value, agents)


def _iterated(value: Any, agents: Agents) -> tuple[str, ...]:
    return read_agent_ids(list(value), agents)


def _any_agents(value: object, agents: Agents) -> tuple[str, ...]:
    return tuple(value) if isinstance(value, list) and value else read_agent_ids(value, agents)


class _ReadsOnce:
    """Knows the keys that there were when the first one was used."""

    def __init__(self) -> None:
        self._known: frozenset[str] | None = None

    def authenticate(self, header: str | None, store: KeyStore, now: float, parts: Parts) -> Key:
        key = authenticate(header, store, now, parts)
        if self._known is None:
            self._known = frozenset(each.id for each in store.list())
        if key.id not in self._known:
            raise parts.refuse_key(None)
        return key


class _Caches:
    """Takes a key that was good once for good."""

    def __init__(self) -> None:
        self._good: set[str] = set()

    def accepts(self, key: Key, now: float) -> bool:
        if accepts(key, now):
            self._good.add(key.id)
        return key.id in self._good


class _Unlimited(RateMeter):
    def count(self, key: Key, now: float) -> None:
        return


class _SilentWhen(RateMeter):
    def count(self, key: Key, now: float) -> None:
        try:
            super().count(key, now)
        except Refusal as refusal:
            refusal.headers.clear()
            raise


class _OneCount(RateMeter):
    def count(self, key: Key, now: float) -> None:
        super().count(replace(key, id="every key"), now)


class _KeyRefusal(Refusal):
    """A refusal of the routes by which keys are managed."""

    def __init__(self, refusal: Refusal) -> None:
        super().__init__(refusal.status, refusal.message, headers=refusal.headers)


def _check_owner_apart(header: str | None, config: Config) -> None:
    try:
        check_owner(header, config)
    except Refusal as refusal:
        raise _KeyRefusal(refusal) from None


def _read_agent_ids_apart(value: object, agents: Agents) -> tuple[str, ...]:
    try:
        return read_agent_ids(value, agents)
    except Refusal as refusal:
        raise _KeyRefusal(refusal) from None


def _in_detail(refusal: Refusal) -> Response:
    if isinstance(refusal, _KeyRefusal):
        return json_response({"detail": refusal.message}, refusal.status, refusal.headers)
    return error_response(refusal)


KEYS: tuple[Mutant[Parts], ...] = (
    changing("anybody_mints", "mints keys for anybody", "AE-KEYS-1", "AE-ENV-1", check_owner=_anybody),
    changing("agent_mints", "mints keys for an agent's registry token", "AE-KEYS-1", check_owner=_agent_too),
    changing("model_key_mints", "mints keys for a model key", "AE-KEYS-1", check_owner=_model_key_too),
    changing("secret_listed", "lists keys with their secrets", "AE-KEYS-2", describe_key=_Remembers().describe_key),
    changing("secret_stored", "stores secrets in clear", "AE-KEYS-2", digest=_as_it_is),
    changing(
        "keys_read_once",
        "knows the keys that it began with",
        "AE-KEYS-2",
        "AE-KEYS-4",
        authenticate=_ReadsOnce().authenticate,
    ),
    changing("key_for_no_agent", "mints a key for no agent", "AE-KEYS-3", "AE-ENV-1", read_agent_ids=_no_agent),
    changing("agent_as_text", "takes one id for a list of ids", "AE-KEYS-3", read_agent_ids=_one_agent),
    changing("unknown_agents_skipped", "mints for the agents it knows", "AE-KEYS-3", read_agent_ids=_known_agents),
    changing("agents_iterated", "takes whatever can be iterated for a list", "AE-KEYS-3", read_agent_ids=_iterated),
    changing("agents_unchecked", "mints for agents that nobody has", "AE-KEYS-3", read_agent_ids=_any_agents),
    changing("good_key_cached", "takes a key that was good once for good", "AE-KEYS-4", accepts=_Caches().accepts),
    changing("cap_ignored", "ignores the rate cap", "AE-KEYS-5", meter=_Unlimited),
    changing("caps_shared", "counts the turns of all keys with a cap together", "AE-KEYS-5", meter=_OneCount),
    changing(
        "mint_refused_in_detail",
        "refuses to mint in another form",
        "AE-ENV-1",
        check_owner=_check_owner_apart,
        read_agent_ids=_read_agent_ids_apart,
        render_refusal=_in_detail,
    ),
    changing("cap_without_wait", "answers 429 without Retry-After", "AE-KEYS-5", meter=_SilentWhen),
)
