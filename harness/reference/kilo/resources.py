"""The server that seeds a rollout before its run, and verifies it after."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any

from harness.reference.kilo.refusal import Refusal

if TYPE_CHECKING:
    import httpx

Body = dict[str, Any]
_SECONDS = 60.0


async def roll_out(url: str, body: Body, respond: Callable[[], Awaitable[Body]]) -> Body:
    """Seed, respond, verify: what the resources server at `url` says of it, with the response.

    Both calls are one session: the cookies of the first go along with the second.
    """
    import httpx  # a third of the agent's start, which most have no use for

    async with httpx.AsyncClient(base_url=url, trust_env=False) as http:
        await post(http, "/seed_session", body)
        response = await respond()
        verified = await post(http, "/verify", {**body, "response": response})
    return {**verified, "response": response}


async def post(http: httpx.AsyncClient, path: str, body: Mapping[str, Any]) -> Body:
    """The answer to a call of the resources server; raises Refusal (502) when there is none that can be used."""
    import httpx

    wrong = f"The resources server did not answer {path} as it should"
    try:
        async with asyncio.timeout(_SECONDS):  # httpx itself would wait so long for each piece of the answer
            answer = await http.post(path, json=body, timeout=None)
        answer.raise_for_status()
        value = answer.json()
    except (httpx.HTTPError, TimeoutError, ValueError) as error:
        raise Refusal(502, f"{wrong}: {type(error).__name__}.") from None
    if not isinstance(value, dict):
        raise Refusal(502, f"{wrong}: what it said is no object.")
    return value
