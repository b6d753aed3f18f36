"""The exchanges of a check as a Mermaid sequence diagram, with their times."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from harness.exchange import Exchange, Hop

MESSAGES = 40
"""So many arrows are drawn at most."""

_CHARACTERS = 60
_UNSAFE = re.compile(r"[^A-Za-z0-9 ./_-]")
_KEYWORD = re.compile(r"\bend\b")
_ASKING: Mapping[Hop, tuple[str, str]] = {
    "client": ("client", "target"),
    "opencode": ("target", "opencode"),
    "proxy": ("opencode", "proxy"),
    "model": ("opencode", "model"),
    "provider": ("opencode", "provider"),
    "resources": ("target", "resources"),
}
_SHOWN = {
    "client": "turnproof client",
    "target": "target",
    "opencode": "opencode",
    "kilo": "kilo",
    "proxy": "LiteLLM proxy",
    "model": "model server",
    "provider": "provider",
    "resources": "resources server",
}


@dataclass(frozen=True)
class _Arrow:
    at: float
    text: str


def diagram(exchanges: Sequence[Exchange], kind: str) -> str:
    """The diagram of exchanges with a target of that kind; its texts are ours, or have what Mermaid reads taken out."""
    carried = {exchange.hop for exchange in exchanges}
    first = min((exchange.began for exchange in exchanges), default=0.0)
    arrows = sorted(_arrows(exchanges, carried, kind, first), key=lambda arrow: arrow.at)
    lines = ["sequenceDiagram", *_participants(carried, kind), *(arrow.text for arrow in arrows[:MESSAGES])]
    if len(arrows) > MESSAGES:
        lines.append(f"    Note over client: {len(arrows) - MESSAGES} more arrows are left out")
    return "\n".join(lines)


def _participants(carried: Iterable[Hop], kind: str) -> Iterator[str]:
    ends = {end for hop in carried for end in _ends(hop, set(carried), kind)}
    return (f"    participant {name} as {shown}" for name, shown in _SHOWN.items() if name in ends)


def _ends(hop: Hop, carried: set[Hop], kind: str) -> tuple[str, str]:
    asking, answering = _ASKING[hop]
    if hop in ("model", "provider"):
        if kind == "kilo-agent":
            asking = "kilo"
        elif "proxy" in carried:
            asking = "proxy"
    return asking, answering


def _arrows(exchanges: Sequence[Exchange], carried: set[Hop], kind: str, first: float) -> Iterator[_Arrow]:
    for one in exchanges:
        asking, answering = _ends(one.hop, carried, kind)
        asked = _plain(f"{one.request.method} {one.request.path}")
        yield _Arrow(one.began, f"    {asking}->>{answering}: ({one.number}) {asked} at {_ms(one.began - first)}")
        if one.duration is not None:
            told = str(one.status) if one.status is not None else "no answer"
            end = "" if one.end == "complete" else f" {one.end}"
            text = f"    {answering}-->>{asking}: ({one.number}) {told}{end} after {_ms(one.duration)}"
            yield _Arrow(one.began + one.duration, text)


def _ms(seconds: float) -> str:
    return f"{seconds * 1000:.0f} ms"


def _plain(text: str) -> str:
    return _KEYWORD.sub("End", _UNSAFE.sub("_", text))[:_CHARACTERS]
