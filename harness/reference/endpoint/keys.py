"""Keys that agents' owners hand out, in SQLite. A secret is stored as its digest only and cannot be read back."""

from __future__ import annotations

import hashlib
import json
import secrets
import sqlite3
import time
from collections.abc import Callable
from dataclasses import dataclass


def digest(secret: str) -> str:
    """What is kept of a secret: enough to know it again, and no more."""
    return hashlib.sha256(secret.encode("utf-8", "surrogateescape")).hexdigest()


@dataclass(frozen=True)
class Key:
    """A key without its secret. Times are in seconds since the epoch; `rate_cap` is in turns per minute."""

    id: str
    agent_ids: tuple[str, ...]
    created_at: float
    expires_at: float | None
    rate_cap: int | None
    revoked: bool


class KeyStore:
    """The keys in the SQLite file `path`; `digest` is what it keeps of a secret."""

    def __init__(self, path: str, digest: Callable[[str], str] = digest) -> None:
        self._digest = digest
        self._database = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
        self._database.execute(
            "CREATE TABLE IF NOT EXISTS keys (id TEXT PRIMARY KEY, digest TEXT UNIQUE NOT NULL,"
            " agent_ids TEXT NOT NULL, created_at REAL NOT NULL, expires_at REAL,"
            " rate_cap INTEGER, revoked INTEGER NOT NULL DEFAULT 0)"
        )

    def close(self) -> None:
        """Close the file."""
        self._database.close()

    def mint(self, agent_ids: tuple[str, ...], expires_in: float | None, rate_cap: int | None) -> tuple[Key, str]:
        """A new key and its secret. With `expires_in` zero or less it is born expired."""
        secret = "sk-agent-" + secrets.token_urlsafe(32)
        now = time.time()
        expires_at = None if expires_in is None else now + expires_in
        key = Key("key_" + secrets.token_hex(8), agent_ids, now, expires_at, rate_cap, revoked=False)
        row = (key.id, self._digest(secret), json.dumps(agent_ids), key.created_at, key.expires_at, key.rate_cap)
        self._database.execute(
            "INSERT INTO keys (id, digest, agent_ids, created_at, expires_at, rate_cap) VALUES (?, ?, ?, ?, ?, ?)", row
        )
        return key, secret

    def find(self, secret: str) -> Key | None:
        """The key whose secret this is, expired and revoked ones too."""
        return next(iter(self._select("WHERE digest = ?", self._digest(secret))), None)

    def list(self) -> tuple[Key, ...]:
        """All keys, the oldest first."""
        return self._select("ORDER BY created_at, id")

    def revoke(self, key_id: str) -> bool:
        """End a key; whether there is one of that id."""
        return self._database.execute("UPDATE keys SET revoked = 1 WHERE id = ?", (key_id,)).rowcount > 0

    def _select(self, condition: str, *values: str) -> tuple[Key, ...]:
        query = f"SELECT id, agent_ids, created_at, expires_at, rate_cap, revoked FROM keys {condition}"
        rows = self._database.execute(query, values).fetchall()
        return tuple(
            Key(key_id, tuple(json.loads(agents)), created, expires, cap, bool(revoked))
            for key_id, agents, created, expires, cap, revoked in rows
        )
