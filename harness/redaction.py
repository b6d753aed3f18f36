"""Secrets are replaced by stable placeholders when a record is written, not when it is shown."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Mapping
from itertools import accumulate, pairwise
from typing import Any
from urllib.parse import quote, quote_plus

from harness.exchange import bytes_from_json, bytes_to_json


class Redactor:
    """Knows the run's secrets by name and replaces each, in every spelling, by `[secret:NAME]`.

    `known` is what it was given: name, value and user of each.
    """

    def __init__(self, secrets: Mapping[str, str] | None = None) -> None:
        self._placeholders: dict[bytes, bytes] = {}
        self._pattern: re.Pattern[bytes] | None = None
        self._shortest = 0
        self.known: list[tuple[str, str, str | None]] = []
        for name, value in (secrets or {}).items():
            self.add(name, value)

    def add(self, name: str, value: str, user: str | None = None) -> None:
        """Learn a secret; `user` is the user name it goes with in HTTP Basic."""
        if not value:
            return
        self.known.append((name, value, user))
        placeholder = f"[secret:{name}]".encode()
        self._placeholders |= {spelling.encode(): placeholder for spelling in _spellings(value, user)}
        longest_first = sorted(self._placeholders, key=len, reverse=True)
        self._pattern = re.compile(b"|".join(map(re.escape, longest_first)))
        self._shortest = len(longest_first[-1].decode())

    def redact(self, text: str) -> str:
        """`text` with every secret replaced."""
        if len(text) < self._shortest:
            return text
        return self.redact_bytes(text.encode("utf-8", "surrogatepass")).decode("utf-8", "surrogatepass")

    def redact_bytes(self, data: bytes) -> bytes:
        """`data` with every secret replaced."""
        if self._pattern is None:
            return data
        return self._pattern.sub(lambda match: self._placeholders[match[0]], data)

    def redact_json(self, value: Any) -> Any:
        """A JSON value with every secret replaced, in keys too; bodies cut in pieces are redacted across the cuts."""
        if self._pattern is None:
            return value
        if isinstance(value, str):
            return self.redact(value)
        if isinstance(value, (list, tuple)):
            return [self.redact_json(item) for item in value]
        if isinstance(value, dict):
            return self._redact_object(value)
        return value

    def _redact_object(self, value: dict[str, Any]) -> dict[str, Any]:
        if value.keys() == {"base64"}:
            data = bytes_from_json(value)
            redacted = self.redact_bytes(data)
            return value if redacted == data else {"base64": base64.b64encode(redacted).decode()}
        if "hop" in value and "chunks" in value:
            value = {**value, "chunks": self._redact_chunks(value["chunks"])}
        return {self.redact(key): self.redact_json(item) for key, item in value.items()}

    def _redact_chunks(self, chunks: list[list[Any]]) -> list[list[Any]]:
        pieces = [bytes_from_json(data) for _, data in chunks]
        joined = b"".join(pieces)
        secrets = [match.span() for match in self._pattern.finditer(joined)] if self._pattern else []
        if not secrets:
            return chunks
        cuts = [_out_of(secrets, cut) for cut in accumulate(map(len, pieces), initial=0)]
        redacted = [self.redact_bytes(joined[begin:end]) for begin, end in pairwise(cuts)]
        return [[at, bytes_to_json(data)] for (at, _), data in zip(chunks, redacted, strict=True)]


def _spellings(value: str, user: str | None) -> set[str]:
    spellings = {value, quote(value), quote(value, safe=""), quote_plus(value)}
    spellings |= {json.dumps(value, ensure_ascii=ascii_only)[1:-1] for ascii_only in (True, False)}
    if user is not None:
        spellings.add(base64.b64encode(f"{user}:{value}".encode()).decode())
    return spellings


def _out_of(secrets: list[tuple[int, int]], cut: int) -> int:
    """`cut`, moved to the end of the secret that it falls into."""
    return next((end for begin, end in secrets if begin < cut < end), cut)
