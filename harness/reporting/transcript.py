"""One exchange as text, as a person reads it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from http import HTTPStatus
from typing import Any

from harness.exchange import Exchange, Headers, Hop, header
from harness.reporting.visible import one_line, shortened, visible
from harness.sse import Event, Parser

BODY_CHARACTERS = 2000
"""How much of each body is shown unless the caller says otherwise."""

_PRETTY_CHARACTERS = 800
_HEADERS = 30
_LINE_CHARACTERS = 300
_EVENTS_FIRST = 12
_EVENTS_LAST = 6
WAYS: Mapping[Hop, str] = {
    "client": "turnproof -> target",
    "opencode": "target -> opencode",
    "proxy": "opencode -> proxy",
    "model": "-> model server",
    "provider": "-> provider",
    "resources": "target -> resources server",
}
"""Who asks whom on each hop."""


def transcript(exchange: Exchange, body_characters: int = BODY_CHARACTERS, excerpt: str = "") -> str:
    """Request and answer of an exchange, without a line end after the last line.

    Bodies are shortened to about `body_characters`; `excerpt` is what is shown of the answer's body, if it is given.
    Whatever the target sent, what acts or hides is written out, and the whole has no more than
    `size_limit(body_characters)` characters.
    """
    lines = [*_request(exchange, body_characters), "", *_answer(exchange, body_characters, excerpt)]
    return shortened("\n".join(lines), size_limit(body_characters))


def size_limit(body_characters: int) -> int:
    """About how many characters a transcript has at most when bodies are shortened to `body_characters`."""
    return 3000 + 3 * body_characters


def _request(exchange: Exchange, limit: int) -> Iterator[str]:
    request = exchange.request
    label = f", {_line(exchange.label)}" if exchange.label else ""
    yield f"#{exchange.number} {WAYS[exchange.hop]}{label}"
    yield f"-> {_line(request.method)} {_line(request.target)}"
    yield from _headers(request.headers)
    yield from _body(request.body, _is_stream(request.headers), limit)


def _answer(exchange: Exchange, limit: int, excerpt: str) -> Iterator[str]:
    yield f"<- {_status(exchange)}{_timing(exchange)}"
    yield from _headers(exchange.headers)
    if excerpt:
        yield from _body(excerpt.encode("utf-8", "surrogatepass"), True, limit)
        yield f"   [this alone of {len(exchange.body):,} bytes]"
    elif _is_stream(exchange.headers) and exchange.chunks:
        yield from _events(exchange, limit)
    else:
        yield from _body(exchange.body, False, limit)
    yield from _end(exchange)


def _status(exchange: Exchange) -> str:
    if exchange.status is None:
        return "no status line"
    try:
        return f"{exchange.status} {HTTPStatus(exchange.status).phrase}"
    except ValueError:
        return str(exchange.status)


def _timing(exchange: Exchange) -> str:
    return "" if exchange.duration is None else f" in {duration(exchange.duration)}"


def duration(seconds: float) -> str:
    """Seconds as a person reads them, such as `12 ms`."""
    return f"{seconds * 1000:.0f} ms" if seconds < 1 else f"{seconds:.2f} s"


def _headers(headers: Headers) -> Iterator[str]:
    for name, value in headers[:_HEADERS]:
        yield f"   {_line(name)}: {_line(value)}"
    if len(headers) > _HEADERS:
        yield f"   [... {len(headers) - _HEADERS} more headers ...]"


def _body(body: bytes, is_stream: bool, limit: int) -> Iterator[str]:
    if body:
        yield ""
        text = body.decode("utf-8", "backslashreplace")
        yield from _indented(shortened(visible(text if is_stream else _pretty(text)), limit))


def _pretty(text: str) -> str:
    if len(text) > _PRETTY_CHARACTERS:
        return text
    try:
        value = json.loads(text, object_pairs_hook=_object, parse_float=_no_float, parse_constant=_no_float)
        laid_out = json.dumps(value, ensure_ascii=False, indent=2)
    except (ValueError, RecursionError):
        return text
    return laid_out if len(laid_out) <= 2 * _PRETTY_CHARACTERS else text


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Refuse what would not be printed as it was sent: of two equal keys only one would be seen."""
    if len(dict(pairs)) < len(pairs):
        raise ValueError("a key is there twice")
    return dict(pairs)


def _no_float(literal: str) -> float:
    """Refuse what would not be printed as it was sent: `1.50` would become `1.5`."""
    value = float(literal)
    if repr(value) != literal:
        raise ValueError("a number would be written differently")
    return value


def _events(exchange: Exchange, limit: int) -> Iterator[str]:
    parser = Parser()
    events = [(chunk.at, event) for chunk in exchange.chunks for event in parser.feed(chunk.data)]
    if not events:
        yield from _body(exchange.body, True, limit)
        return
    yield ""
    shown = _EVENTS_FIRST + _EVENTS_LAST
    each = max(40, limit // min(len(events), shown))
    head, tail = (events, []) if len(events) <= shown else (events[:_EVENTS_FIRST], events[-_EVENTS_LAST:])
    yield from (_event(at, event, each) for at, event in head)
    if tail:
        yield f"   [... {len(events) - shown:,} more events ...]"
        yield from (_event(at, event, each) for at, event in tail)
    if parser.pending:
        yield "   [then bytes that no event carries]"


def _event(at: float, event: Event, limit: int) -> str:
    named = "" if event.type == "message" else f"event: {_line(event.type)}, "
    return f"   {duration(at):>7}  {named}data: {shortened(one_line(event.data), limit)}"


def _end(exchange: Exchange) -> Iterator[str]:
    ends = {
        "open": "the answer was still open when its check ended",
        "cut": f"the answer was cut off after {len(exchange.body):,} bytes",
        "gone": f"the asking side left after {len(exchange.body):,} bytes",
        "failed": "no answer came",
    }
    if exchange.end in ends:
        yield f"   [{ends[exchange.end]}]"
    if exchange.fault:
        yield f"   [fault made on purpose: {_line(exchange.fault)}]"
    if exchange.error:
        yield f"   [error: {_line(exchange.error)}]"


def _is_stream(headers: Headers) -> bool:
    return (header(headers, "content-type") or "").split(";")[0].strip().lower() == "text/event-stream"


def _indented(text: str) -> Iterator[str]:
    return (f"   {line}".rstrip() for line in text.split("\n"))


def _line(text: str) -> str:
    return shortened(one_line(text), _LINE_CHARACTERS)
