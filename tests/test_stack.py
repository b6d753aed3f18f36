from __future__ import annotations

import json
from typing import Any

import pytest

from harness.exchange import Exchange, Request
from harness.stack import sessions_of
from tests.sample_results import exchange


def answered(method: str, path: str, body: Any) -> Exchange:
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    return exchange(request=Request(method, path), chunks=[data], status=200, hop="opencode")


def test_sessions_are_those_that_were_created() -> None:
    created = [answered("POST", "/session?directory=x", {"id": f"ses_{n}"}) for n in (1, 2)]
    assert sessions_of(created) == ["ses_1", "ses_2"]


@pytest.mark.parametrize(
    "seen",
    [
        answered("GET", "/session", [{"id": "ses_1"}]),
        answered("POST", "/session/ses_1/abort", {"id": "ses_1"}),
        answered("POST", "/session", {"name": "BadRequest"}),
        answered("POST", "/session", []),
        answered("POST", "/session", b""),
    ],
)
def test_anything_else_creates_no_session(seen: Exchange) -> None:
    assert sessions_of([seen]) == []
