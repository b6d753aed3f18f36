"""Secrets are replaced by stable placeholders when a record is written, not when it is shown."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterator, Mapping
from itertools import accumulate, pairwise
from typing import Any, NamedTuple
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
        """A JSON value with every secret replaced, in keys too."""
        if self._pattern is None:
            return value
        if isinstance(value, str):
            return self.redact(value)
        if isinstance(value, (list, tuple)):
            return [self.redact_json(item) for item in value]
        if isinstance(value, dict):
            return self._redact_object(value)
        return value

    def redact_record(self, record: dict[str, Any]) -> dict[str, Any]:
        """A record of a results file with every secret replaced in what it tells.

        What it is made of stays, whatever word a secret is: a target may make it up, and a person may choose `test`.
        Bodies cut in pieces are redacted across the cuts, and streams across the events that tell a secret in parts.
        """
        return {name: self._field(name, value) for name, value in record.items()}

    def _field(self, name: str, value: Any) -> Any:
        if name in _MADE_OF or self._pattern is None:
            return value
        if name == "chunks":
            return self.redact_json(self._redact_chunks(value))
        if name in _OBJECTS and isinstance(value, dict):
            return {key: self.redact_json(item) for key, item in value.items()}
        return self.redact_json(value)

    def _redact_object(self, value: dict[str, Any]) -> dict[str, Any]:
        if value.keys() == {"base64"}:
            data = bytes_from_json(value)
            redacted = self.redact_bytes(data)
            return value if redacted == data else {"base64": base64.b64encode(redacted).decode()}
        return {self.redact(key): self.redact_json(item) for key, item in value.items()}

    def _redact_chunks(self, chunks: list[list[Any]]) -> list[list[Any]]:
        pieces = [bytes_from_json(data) for _, data in chunks]
        for edits_of in (self._plain, self._told_piecemeal):
            edits = edits_of(b"".join(pieces))
            pieces = _edited(pieces, edits) if edits else pieces
        return [[at, bytes_to_json(data)] for (at, _), data in zip(chunks, pieces, strict=True)]

    def _plain(self, data: bytes) -> list[_Edit]:
        found = self._pattern.finditer(data) if self._pattern else ()
        return [_Edit(*match.span(), self._placeholders[match[0]]) for match in found]

    def _told_piecemeal(self, data: bytes) -> list[_Edit]:
        """The edits for secrets that come in parts, in texts of events of which each goes on with the last."""
        texts: dict[bytes, list[re.Match[bytes]]] = {}
        for match in _TEXT.finditer(data):
            texts.setdefault(match[1], []).append(match)
        return sorted(edit for matches in texts.values() if len(matches) > 1 for edit in self._across(matches))

    def _across(self, matches: list[re.Match[bytes]]) -> Iterator[_Edit]:
        told = [_decoded(match[2]) for match in matches]
        secrets = self._plain(b"".join(told))
        if not secrets:
            return
        ends = list(accumulate(map(len, told), initial=0))
        for match, text, begin, end in zip(matches, told, ends, ends[1:], strict=False):
            inside = [secret for secret in secrets if secret.begin < end and begin < secret.end]
            kept, at = b"", begin
            for secret in inside:
                kept += text[at - begin : max(secret.begin - begin, 0)]
                kept += secret.put if secret.begin >= begin else b""
                at = min(secret.end, end)
            if inside:
                shown = (kept + text[at - begin :]).decode("utf-8", "replace")
                yield _Edit(*match.span(2), json.dumps(shown)[1:-1].encode())


_MADE_OF = frozenset(
    (
        "record",
        "check",
        "requirements",
        "verdict",
        "signature",
        "actor",
        "label",
        "hop",
        "end",
        "fault",
        "outcome",
        "ended",
    )
)
"""The fields of a record whose values are words of ours."""

_OBJECTS = ("request", "finding", "asked", "seen")
"""The fields of a record whose values are objects with keys of ours."""


class _Edit(NamedTuple):
    """The bytes from `begin` to before `end` are to become `put`."""

    begin: int
    end: int
    put: bytes


_TEXT = re.compile(
    rb'"(content|reasoning|reasoning_content|refusal|text|arguments|delta)"\s*:\s*"((?:[^"\\]|\\.)*)"', re.DOTALL
)
"""A text in an event of a stream with which later events may go on."""


def _decoded(text: bytes) -> bytes:
    try:
        return str(json.loads(b'"' + text + b'"', strict=False)).encode("utf-8", "surrogatepass")
    except ValueError:
        return text


def _edited(pieces: list[bytes], edits: list[_Edit]) -> list[bytes]:
    """The pieces after the edits; a cut between pieces that an edit would go over moves to the end of that edit."""
    joined = b"".join(pieces)
    cuts = [_out_of(edits, cut) for cut in accumulate(map(len, pieces), initial=0)]
    edited = []
    for begin, end in pairwise(cuts):
        piece, at = b"", begin
        for edit in edits:
            if begin <= edit.begin < end:
                piece += joined[at : edit.begin] + edit.put
                at = edit.end
        edited.append(piece + joined[at:end])
    return edited


def _spellings(value: str, user: str | None) -> set[str]:
    spellings = {value, quote(value), quote(value, safe=""), quote_plus(value)}
    spellings |= {json.dumps(value, ensure_ascii=ascii_only)[1:-1] for ascii_only in (True, False)}
    if user is not None:
        spellings.add(base64.b64encode(f"{user}:{value}".encode()).decode())
    return spellings


def _out_of(edits: list[_Edit], cut: int) -> int:
    """`cut`, moved to the end of the edit that it falls into."""
    return next((edit.end for edit in edits if edit.begin < cut < edit.end), cut)
