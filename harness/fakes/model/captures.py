"""Calls kept per rollout, as a Gym model server keeps them: the id is in the path, `<id>.capture.jsonl` is the file."""

from __future__ import annotations

import json
import re
import time
import uuid
from dataclasses import replace
from pathlib import Path
from typing import Any

from harness.exchange import Request, header, parse_json
from harness.fakes.model.core import CHAT
from harness.fakes.model.gym import EMPTY_ID
from harness.fakes.model.replayed import assembled
from harness.fakes.model.responses import RESPONSES
from harness.fakes.plan import Plan
from harness.sse import parse

SUFFIX = ".capture.jsonl"

_PREFIX = re.compile(r"/ng-rollout/(?P<id>[A-Za-z0-9][A-Za-z0-9._-]*)(?P<rest>/.*)\Z")
_DIALECTS = {CHAT: "chat", RESPONSES: "responses"}


def parted(request: Request) -> tuple[str | None, Request]:
    """The rollout that a request belongs to, None for none, and the request without the prefix that says so."""
    match = _PREFIX.match(request.target)
    return (match["id"], replace(request, target=match["rest"])) if match else (None, request)


def record(request: Request, plan: Plan) -> dict[str, Any] | None:
    """What is kept of a call, or None for a request that is no call of the model."""
    dialect = _DIALECTS.get(request.path)
    if dialect is None or request.method != "POST":
        return None
    raw = b"".join(piece.data for piece in plan.pieces).decode("utf-8", "replace")
    streamed = "event-stream" in (header(plan.headers, "content-type") or "")
    response = _last(dialect, raw) if streamed else parse_json(raw.encode())
    now = time.time()
    kept = {
        "model_call_id": uuid.uuid4().hex,
        "dialect": dialect,
        "started_at": now,
        "completed_at": now,
        "status_code": plan.status,
        "error_category": _category(plan, response),
        "request": request.json(),
        "response": response if isinstance(response, dict) else None,
    }
    return {**kept, "response_raw": raw} if streamed or response is None else kept


def _last(dialect: str, raw: str) -> Any:
    """The whole answer that a stream amounts to."""
    events = [event.json() for event in parse(raw.encode())]
    if dialect == "chat":
        return assembled(events)
    whole = [event["response"] for event in events if isinstance(event, dict) and "response" in event]
    return whole[-1] if whole else None


def _category(plan: Plan, response: Any) -> str | None:
    if isinstance(response, dict) and str(response.get("id")).endswith(EMPTY_ID):
        return "context_length_exceeded"
    if plan.status is None or plan.ending != "complete":
        return "stream_truncated"
    if plan.status < 400:
        return None
    named = {401: "auth", 403: "auth", 404: "not_found", 408: "timeout", 429: "rate_limit", 504: "timeout"}
    return named.get(plan.status, "client_error" if plan.status < 500 else "upstream_error")


class Captures:
    """The files in a folder, which is made when the first call is kept."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def keep(self, rollout: str, kept: dict[str, Any]) -> None:
        """Put a call to those of its rollout."""
        self.folder.mkdir(parents=True, exist_ok=True)
        with (self.folder / f"{rollout}{SUFFIX}").open("a", encoding="utf-8", newline="\n") as stream:
            stream.write(json.dumps(kept, ensure_ascii=False) + "\n")
