"""Secrets are replaced by stable placeholders when a record is written, not when it is shown."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from harness.exchange import bytes_from_json, bytes_to_json


class Redactor:
    """Knows the run's secrets by name and replaces each, in every spelling, by `[secret:NAME]`."""

    def __init__(self, secrets: Mapping[str, str] | None = None) -> None:
        self._spellings: list[tuple[str, str]] = []
        for name, value in (secrets or {}).items():
            self.add(name, value)

    def add(self, name: str, value: str, user: str | None = None) -> None:
        """Learn a secret; `user` is the user name it goes with in HTTP Basic."""
        placeholder = f"[secret:{name}]"
        spellings = {value, quote(value, safe=""), json.dumps(value)[1:-1]}
        if user is not None:
            spellings.add(base64.b64encode(f"{user}:{value}".encode()).decode())
        self._spellings += [(spelling, placeholder) for spelling in spellings if spelling]
        self._spellings.sort(key=lambda pair: -len(pair[0]))

    def redact(self, text: str) -> str:
        """`text` with every secret replaced."""
        for spelling, placeholder in self._spellings:
            text = text.replace(spelling, placeholder)
        return text

    def redact_bytes(self, data: bytes) -> bytes:
        """`data` with every secret replaced."""
        for spelling, placeholder in self._spellings:
            data = data.replace(spelling.encode(), placeholder.encode())
        return data

    def redact_json(self, value: Any) -> Any:
        """A JSON value with every secret replaced, in keys too; bodies cut in pieces are redacted across the cuts."""
        if isinstance(value, str):
            return self.redact(value)
        if isinstance(value, list):
            return [self.redact_json(item) for item in value]
        if isinstance(value, dict):
            return self._redact_object(value)
        return value

    def _redact_object(self, value: dict[str, Any]) -> dict[str, Any]:
        if value.keys() == {"base64"}:
            data = bytes_from_json(value)
            redacted = self.redact_bytes(data)
            return value if redacted == data else {"base64": base64.b64encode(redacted).decode()}
        if "chunks" in value:
            value = {**value, "chunks": self._redact_chunks(value["chunks"])}
        return {self.redact(key): self.redact_json(item) for key, item in value.items()}

    def _redact_chunks(self, chunks: list[list[Any]]) -> list[list[Any]]:
        joined = b"".join(bytes_from_json(data) for _, data in chunks)
        redacted = self.redact_bytes(joined)
        return chunks if redacted == joined else [[chunks[0][0], bytes_to_json(redacted)]]
