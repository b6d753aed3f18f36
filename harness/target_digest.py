"""A target's description as a digest: the same wherever its file lies, another as soon as anything in it differs."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, replace

from harness.target import Target

_ELSEWHERE = ("source", "folder")


def digest_of(target: Target) -> str:
    """The digest, such as `sha256:5d41...`; nothing of the description can be had back from it."""
    target = replace(target, waivers=tuple(replace(waiver, line=None) for waiver in target.waivers))
    told = {name: value for name, value in asdict(target).items() if name not in _ELSEWHERE}
    text = json.dumps(told, sort_keys=True, default=str)
    return f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"
