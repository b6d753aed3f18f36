"""The course of a check: its exchanges in order, one line each."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterator, Sequence

from harness.exchange import Exchange
from harness.reporting.transcript import WAYS, duration
from harness.reporting.visible import one_line, shortened

_FIRST, _LAST = 8, 8
_TARGET_CHARACTERS = 200
_ENDS = {"open": "still open", "cut": "cut off", "gone": "left by the asking side", "failed": "no answer"}


def course(exchanges: Sequence[Exchange], shown: Collection[int]) -> str:
    """The exchanges, one line each, those of the numbers `shown` marked; a long list is cut in its middle.

    What the target sent is safe to show. The text has no line end after the last line.
    """
    count = len(exchanges)
    kept = {*range(_FIRST), *range(count - _LAST, count)}
    kept |= {index for index, exchange in enumerate(exchanges) if exchange.number in shown}
    widths = (
        max((len(str(exchange.number)) for exchange in exchanges), default=0),
        max((len(WAYS[exchange.hop]) for exchange in exchanges), default=0),
    )
    lines: list[str] = []
    for is_kept, group in itertools.groupby(range(count), kept.__contains__):
        run = [exchanges[index] for index in group]
        told = [_line(exchange, exchange.number in shown, widths) for exchange in run]
        lines += told if is_kept or len(run) == 1 else [f"  [... {len(run)} more ...]"]
    return "\n".join(lines)


def _line(exchange: Exchange, shown: bool, widths: tuple[int, int]) -> str:
    status = "-" if exchange.status is None else str(exchange.status)
    took = "" if exchange.duration is None else duration(exchange.duration)
    asked = one_line(f"{exchange.request.method} {exchange.request.target}")
    notes = ", ".join(_notes(exchange))
    number, way = f"#{exchange.number}".ljust(widths[0] + 1), WAYS[exchange.hop].ljust(widths[1])
    return (
        f"{'>' if shown else ' '} {number}  {way}  {status:>3} {took:>7}  "
        f"{shortened(asked, _TARGET_CHARACTERS)}{f' ({notes})' if notes else ''}"
    )


def _notes(exchange: Exchange) -> Iterator[str]:
    if exchange.label:
        yield shortened(one_line(exchange.label), _TARGET_CHARACTERS)
    if exchange.end in _ENDS:
        yield _ENDS[exchange.end]
    if exchange.fault:
        yield f"fault made on purpose: {shortened(one_line(exchange.fault), _TARGET_CHARACTERS)}"
