"""Requests of ours to a target outside of any check, such as those that see it ready and get its keys.

Whatever the target does, each is over at its deadline, and no more of the answer is read than such a request needs.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping
from typing import Any

import httpx

ANSWER_BYTES = 1 << 20


def status_of(url: str, within: float) -> int:
    """The status that `url` answers with; raises httpx.HTTPError when there is none `within` so many seconds."""
    return asyncio.run(_send("GET", url, {}, None, within, read=False)).status_code


def send(method: str, url: str, headers: Mapping[str, str], body: Any, within: float) -> httpx.Response:
    """The whole answer to a request whose `body` is sent as JSON, unless it is None.

    Raises httpx.HTTPError when there is none `within` so many seconds, or it has more than `ANSWER_BYTES`.
    """
    return asyncio.run(_send(method, url, headers, body, within, read=True))


async def _send(
    method: str, url: str, headers: Mapping[str, str], body: Any, within: float, read: bool
) -> httpx.Response:
    try:
        async with (
            asyncio.timeout(within),
            httpx.AsyncClient(trust_env=False, timeout=None, verify=url.startswith("https:")) as http,
            http.stream(method, url, headers=dict(headers), json=body) as answer,
        ):
            content = await _content(answer) if read else b""
            return httpx.Response(answer.status_code, content=content, request=answer.request)
    except TimeoutError:
        raise httpx.ReadTimeout(f"no whole answer within {within:g} s") from None
    except httpx.ConnectError as error:
        raise httpx.ConnectError(_root(error)) from error


async def _content(answer: httpx.Response) -> bytes:
    content = b""
    async for data in answer.aiter_bytes():
        content += data
        if len(content) > ANSWER_BYTES:
            raise httpx.RemoteProtocolError(f"the answer has more than {ANSWER_BYTES} bytes")
    return content


def _root(error: BaseException) -> str:
    """What the system said at the bottom of an error: that it was refused, and not that all attempts failed."""
    below = error.__cause__ or error.__context__
    if below is not None:
        return _root(below)
    number = error.errno if isinstance(error, OSError) else None
    return os.strerror(number) if number is not None and number > 0 else str(error)
