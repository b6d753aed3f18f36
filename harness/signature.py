"""The signature of a failure: the same for the same failure in every run, another for another failure.

It is made of what the check expected and of how what came begins, without what differs from run to run: nonces, ids,
paths, addresses, times, and all numbers but the status codes of HTTP.
"""

from __future__ import annotations

import hashlib
import re

from harness.results import Finding

LENGTH = 16
"""So many hexadecimal digits has a signature."""

# What came is cut off when it is recorded, at a place that moves with the length of what differs.
_CAME_CHARACTERS = 160
# What a model says holds nonces in pieces, and where nothing decides what it says, anything.
_SAID = r"""(["'])(content|text|delta|reasoning|reasoning_content|arguments)\1: ?(["'])(?:\\.|(?!\3)[^\\])+(?:\3|$)"""
_VARYING: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern), word)
    for pattern, word in (
        (r"tp[a-p]{20}|\btp[a-p]+\b", "<nonce>"),  # the latter where a text was cut off
        (_SAID, r'"\2":<text>'),
        (r"[^\s\"'`(,=]*/turnproof-\w+[^\s\"'`),]*", "<path>"),
        (r"\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d)?([.,]\d+)?(Z|[+-]\d\d:?\d\d)?)?", "<time>"),
        (r"\b(?:localhost|127\.0\.0\.1|\[?::1\]?|0\.0\.0\.0)(:\d+)?(?=\D|$)", "<address>"),
        (r"\b(?=[\w-]*\d)[\w-]{12,}", "<id>"),
        (r"\b(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{6,}\b", "<id>"),
        (r"\[-?\d[\d.e+-]*(, ?-?\d[\d.e+-]*)+\]?", "[<n>]"),
        (r"\b\d+(\.\d+)?(e[+-]?\d+)? ?(ms|s|seconds|second|minutes)\b", "<time>"),
        (r"(?<![\w.])-?(?![1-5]\d\d(?![\w.]))\d+(\.\d+)?(e[+-]?\d+)?", "<n>"),
        (r"\s+", " "),
    )
)


def signature_of(finding: Finding) -> str:
    """The signature of the failure that `finding` tells of: 16 hexadecimal digits."""
    text = f"{steady(finding.expected)}\0{steady(finding.came)[:_CAME_CHARACTERS]}"
    return hashlib.sha256(text.encode("utf-8", "backslashreplace")).hexdigest()[:LENGTH]


def steady(text: str) -> str:
    """`text` with a word in the place of everything that differs from run to run."""
    for pattern, word in _VARYING:
        text = pattern.sub(word, text)
    return text.strip()
