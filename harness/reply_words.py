"""What is said, before any verdict, of an answer of the target that is not the one that was wanted."""

from __future__ import annotations

from collections.abc import Iterable

from harness.exchange import Exchange
from harness.telling import beginning

_SHOWN = 3


def came(reply: Exchange) -> str:
    """What came: status, server and the beginning of the body, and how it ended unless it is whole."""
    if reply.status is None:
        return f"nothing ({reply.error})"
    server = reply.header("server")
    by = f" (server: {beginning(server, 60)})" if server else ""
    end = "" if reply.end == "complete" else f" ({reply.error})"
    return f"{reply.status}{by}: {' '.join(beginning(reply.text).split()) or 'empty'}{end}"


def if_slow(reply: Exchange) -> str:
    """What is added to a hint where the answer took too long; empty where it did not."""
    slow = "; where the machine or the model is slow, raise deadline in the target file"
    return slow if reply.end == "gone" else ""


def statuses(exchanges: Iterable[Exchange]) -> str:
    """Which statuses answered which requests, the first few: `401 to POST /session`."""
    told = dict.fromkeys(
        f"{each.status or 'nothing'} to {each.request.method} {each.request.path}" for each in exchanges
    )
    return ", ".join(list(told)[:_SHOWN])
