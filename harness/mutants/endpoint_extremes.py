"""Endpoints that crash on bodies that nobody writes by hand."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Any

from harness.mutants.mutant import Mutant, changing
from harness.reference.endpoint.chat_request import ChatRequest, parse, read_content
from harness.reference.endpoint.parts import Parts

_ONE_MIB = 2**20


def _down_to_the_bottom(body: bytes, parts: Parts) -> ChatRequest:
    with suppress(ValueError):
        json.loads(body)
    return parse(body, parts)


def _short_bodies_only(body: bytes, parts: Parts) -> ChatRequest:
    if len(body) > _ONE_MIB:
        raise MemoryError
    return parse(body, parts)


def _syntax_errors_only(body: bytes, parts: Parts) -> ChatRequest:
    with suppress(json.JSONDecodeError):
        json.loads(body)
    return parse(body, parts)


def _written_strictly(body: bytes, parts: Parts) -> ChatRequest:
    """Writes what was read as JSON in UTF-8, which has no word for all of it."""
    chat = parse(body, parts)
    json.dumps(json.loads(body), ensure_ascii=False, allow_nan=False).encode()
    return chat


def _each_key_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    assert len(fields) == len(pairs)
    return fields


def _keys_twice_crash(body: bytes, parts: Parts) -> ChatRequest:
    with suppress(ValueError, RecursionError):
        json.loads(body, object_pairs_hook=_each_key_once)
    return parse(body, parts)


def _as_argument(content: object, where: str) -> str:
    """The text as a command would take it."""
    text = read_content(content, where)
    if "\0" in text:
        raise ValueError("embedded null byte")
    return text.encode().decode()


EXTREMES: tuple[Mutant[Parts], ...] = (
    changing("depth_crashes", "crashes on a deeply nested body", "AE-REQ-7", parse=_down_to_the_bottom),
    changing("length_crashes", "crashes on a body of a megabyte", "AE-REQ-7", parse=_short_bodies_only),
    changing("text_is_argument", "crashes on text that no command takes", "AE-REQ-7", read_content=_as_argument),
    changing("strict_writer", "crashes on what strict JSON cannot say", "AE-REQ-7", parse=_written_strictly),
    changing(
        "syntax_errors_only", "crashes on JSON with another flaw", "AE-REQ-7", "AE-REQ-1", parse=_syntax_errors_only
    ),
    changing("keys_twice_crash", "crashes on a key that comes twice", "AE-REQ-7", parse=_keys_twice_crash),
)
