"""The marks between which Markdown evidence stands, with its seal: found again in any text that it was pasted into."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass

from harness.evidence.canonical import digest, parse
from harness.evidence.claims import Claims
from harness.evidence.refusal import Refused
from harness.evidence.signing import Signature

BEGIN = "<!-- turnproof evidence begins -->"
_END = "<!-- turnproof evidence ends"
_SEALED = re.compile(
    re.escape(_END) + r" sha256:(?P<seal>[0-9a-f]{64})(?: ed25519:(?P<key>[0-9a-f]{64}):(?P<sig>[A-Za-z0-9+/=]+))? -->"
)
_CLAIMS = re.compile(r"\n```json\n(?P<claims>\{[^\n]*\})\n```\n\n</details>\Z")
_PASTE = "Paste evidence.md whole, from its first line to its last."


@dataclass(frozen=True)
class Marked:
    """Evidence as Markdown: the text between the marks, what it says, and the signature on it, if it has one."""

    text: str
    claims: Claims
    signature: Signature | None


def marked(text: str, signature: Signature | None = None) -> str:
    """A document between its marks, with the seal of what is between them."""
    signed = f" ed25519:{signature.keyid}:{base64.b64encode(signature.sig).decode()}" if signature else ""
    seal = f"{_END} sha256:{digest(text.encode())}{signed} -->"
    says = "*A seal detects edits; it does not say who made this. Check it: `turnproof verify`.*"
    return f"{BEGIN}\n\n{text}\n\n{seal}\n\n{says}\n"


def found_in(text: str) -> tuple[Marked, ...]:
    """Every evidence in a text, in its order.

    Raises Refused when there is none, or when one is cut, edited or without a seal.
    """
    return tuple(map(_checked, _pieces(text.replace("\r\n", "\n").split("\n"))))


def _pieces(lines: list[str]) -> Iterator[tuple[str, str]]:
    """What is between each two marks, with the second."""
    begun: list[str] | None = None
    count = 0
    for line in lines:
        if line.rstrip() == BEGIN:
            if begun is not None:
                raise Refused("cut", "an evidence begins and does not end before the next one", _PASTE)
            begun = []
        elif line.startswith(_END):
            if begun is None:
                raise Refused("cut", "an evidence ends that has no beginning", _PASTE)
            yield "\n".join(begun).removeprefix("\n").removesuffix("\n"), line.rstrip()
            begun, count = None, count + 1
        elif begun is not None:
            begun.append(line)
    if begun is not None:
        raise Refused("cut", "the evidence has no end", _PASTE)
    if not count:
        raise Refused("unsealed", "there is no evidence of turnproof in the text", _PASTE)


def _checked(piece: tuple[str, str]) -> Marked:
    text, end = piece
    match = _SEALED.fullmatch(end)
    if match is None:
        raise Refused("unsealed", "the evidence has no seal that can be read", _PASTE)
    if digest(text.encode("utf-8", "surrogatepass")) != match["seal"]:
        raise Refused(
            "edited", "the text is not the one that was sealed", "Compare it with the evidence.md of the run."
        )
    claims = _CLAIMS.search(text)
    try:
        told = Claims.from_json(parse(claims["claims"])) if claims else None
    except (ValueError, KeyError, TypeError, json.JSONDecodeError) as error:
        raise Refused("edited", f"what it says for machines cannot be read: {error!r}") from error
    if told is None:
        raise Refused("incomplete", "it lacks what it says for machines")
    signature = Signature(match["key"], base64.b64decode(match["sig"])) if match["key"] else None
    return Marked(text, told, signature)
