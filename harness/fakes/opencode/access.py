"""Who is let in: whoever gives the server's user and password, as HTTP Basic or in the query."""

from __future__ import annotations

import base64
from urllib.parse import parse_qs

from harness.exchange import Request, header


def token_of(username: str, password: str) -> str:
    """What a request must give."""
    return base64.b64encode(f"{username}:{password}".encode()).decode()


def gives(request: Request, token: str) -> bool:
    """Whether the request gives that token: in the query's `auth_token`, where there is one, else in its header."""
    query = parse_qs(request.target.partition("?")[2], keep_blank_values=True)
    if "auth_token" in query:
        return query["auth_token"][0] == token
    scheme, _, given = (header(request.headers, "authorization") or "").partition(" ")
    return scheme.lower() == "basic" and given == token
