"""Where keys are minted, listed and revoked at a running target: requests as its owner, or as somebody else."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from harness.exchange import Headers, Request
from harness.json_pointer import pointed
from harness.redaction import Redactor
from harness.target import Target
from harness.target_keys import Minting
from harness.target_keys import Request as Described
from harness.template import expand, expand_json, is_variable, placeholders

By = Literal["owner", "agent", "nobody"]
"""Whose request it is: the owner's, that of an agent with its registry token, or of nobody in particular."""

Found = Literal["in clear", "not in clear", "no store"]


class KeyDesk:
    """Makes the requests that a target's `[mint]` describes, with `values` for its placeholders.

    What the description does not tell is None. The secrets that it knows are made known to `redactor`.
    """

    def __init__(self, minting: Minting, folder: Path, values: Mapping[str, str], redactor: Redactor) -> None:
        self._minting, self._folder, self._values, self._redactor = minting, folder, values, redactor
        self._owner = self._headers(minting.headers, "mint.headers")
        self._agent = self._headers(minting.agent_headers or {}, "mint.agent_headers")
        for template in [*minting.headers.values(), *(minting.agent_headers or {}).values()]:
            for name in filter(is_variable, placeholders(template)):
                redactor.add(name, expand(f"{{{name}}}", values, os.environ))

    @property
    def lifetime(self) -> float | None:
        """Seconds that an expiring key lives."""
        return self._minting.expiring.within if self._minting.expiring else None

    def mint(self, agent_ids: Any, by: By, expiring: bool, secret: str | None = None) -> Request | None:
        """A request for a key; `secret` is a model key that nobody in particular shows as a token."""
        if (by == "agent" and self._minting.agent_headers is None) or (expiring and self._minting.expiring is None):
            return None
        extra = dict(self._minting.expiring.body) if expiring and self._minting.expiring else {}
        headers: Headers = {"owner": self._owner, "agent": self._agent, "nobody": ()}[by]
        if secret is not None:
            headers = (("authorization", f"Bearer {secret}"),)
        body = json.dumps({"agent_ids": agent_ids, **extra}).encode()
        return Request("POST", self._expand(self._minting.path, "mint.path"), (*headers, _JSON), body)

    def list(self) -> Request | None:
        """A request for the list of keys."""
        listing = self._minting.listing
        return Request("GET", self._expand(listing.path, "mint.list.path"), self._owner) if listing else None

    def revoke(self, secret: str, key_id: str | None) -> Request | None:
        """A request that ends a key."""
        described = self._minting.revoke
        if described is None:
            return None
        values = {"key": secret, **({"key_id": key_id} if key_id is not None else {})}
        return self._request(described, values)

    def minted(self, label: str, answer: Any) -> tuple[str | None, str | None]:
        """The secret and the id of the key in the answer to a mint request; the secret is written down from now on
        as that of `label`."""
        secret = _pointed(answer, self._minting.pointer)
        key_id = _pointed(answer, self._minting.id_pointer)
        if not isinstance(secret, str) or not secret:
            return None, None
        self._redactor.add(f"minted.{label}", secret)
        return secret, None if key_id is None else str(key_id)

    def listed(self, answer: Any) -> int | None:
        """How many keys the answer to a list request holds."""
        keys = _pointed(answer, self._minting.listing.pointer if self._minting.listing else None)
        return len(keys) if isinstance(keys, list) else None

    def stored(self, secret: str) -> Found | None:
        """Whether `secret` stands in clear in the target's store: a folder, or a file and those named after it."""
        if self._minting.store is None:
            return None
        store = self._folder / self._expand(self._minting.store, "mint.store")
        files = store.rglob("*") if store.is_dir() else store.parent.glob(f"{store.name}*")
        contents = [path.read_bytes() for path in files if path.is_file()]
        if not contents:
            return "no store"
        return "in clear" if any(secret.encode() in content for content in contents) else "not in clear"

    def _request(self, described: Described, more: Mapping[str, str]) -> Request:
        values = {**self._values, **more}
        own = {name: expand(value, values, os.environ, "mint.revoke") for name, value in described.headers.items()}
        path = expand(described.path, values, os.environ, "mint.revoke.path")
        headers = (*self._owner, *own.items())
        if described.body is None:
            return Request(described.method, path, headers)
        body = json.dumps(expand_json(described.body, values, os.environ, "mint.revoke.body")).encode()
        return Request(described.method, path, (*headers, _JSON), body)

    def _headers(self, templates: Mapping[str, str], where: str) -> Headers:
        return tuple((name, self._expand(value, f"{where}.{name}")) for name, value in templates.items())

    def _expand(self, template: str, where: str) -> str:
        return expand(template, self._values, os.environ, where)


_JSON = ("content-type", "application/json")


def key_desk(target: Target, values: Mapping[str, str], redactor: Redactor) -> KeyDesk | None:
    """The desk of a target; None when it does not describe one. Raises UsageError for a variable that is not set."""
    return KeyDesk(target.mint, target.folder, values, redactor) if target.mint is not None else None


def _pointed(value: Any, pointer: str | None) -> Any:
    try:
        return None if pointer is None else pointed(value, pointer)
    except LookupError:
        return None
