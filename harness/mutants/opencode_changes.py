"""Changes to what the opencode stand-in tells and answers, of which its mutants are made."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

from harness.exchange import Request, parse_json
from harness.fakes.opencode.answers import Answer, json_answer
from harness.fakes.opencode.behaviour import Event

Body = dict[str, Any]
Told = Iterable[Event]
MESSAGES = "/session/[^/]+/message"
PROMPTS = f"{MESSAGES}|/session/[^/]+/prompt_async"


def on(kind: str, change: Callable[[Event], Told]) -> Callable[[Event], Told]:
    """Changes the events of a kind."""
    return lambda event: change(event) if event["type"] == kind else (event,)


def with_properties(event: Event, **properties: Any) -> Event:
    """The event with other properties."""
    return {**event, "properties": {**event["properties"], **properties}}


def error_of(event: Event) -> tuple[str, str]:
    """The name and the message of the error that a `session.error` tells."""
    error = event["properties"]["error"]
    return str(error["name"]), str(error["data"].get("message", ""))


def error_event(session: str, name: str = "MessageAbortedError") -> Event:
    """A `session.error` of a session, as of an abort."""
    error = {"name": name, "data": {"message": "Aborted"}}
    properties = {"sessionID": session, "error": error}
    return {"id": "evt_flaw", "type": "session.error", "properties": properties}


def part_of(event: Event) -> Body:
    """The part that an event tells."""
    return dict(event["properties"]["part"])


def on_parts(kind: str, change: Callable[[Body], Body | None]) -> Callable[[Event], Told]:
    """Changes the parts of a type that are told; None leaves one out."""

    def changed(event: Event) -> Told:
        part = part_of(event)
        if part["type"] != kind:
            return (event,)
        other = change(part)
        return () if other is None else (with_properties(event, part=other),)

    return on("message.part.updated", changed)


def to(method: str, path: str, change: Callable[[Request, Answer, Any], Answer]) -> Callable[[Request, Answer], Answer]:
    """Changes the answers to a method at paths that match `path`, but none to a caller without the password."""

    def changed(request: Request, answer: Answer) -> Answer:
        if answer.status == 401 or request.method != method or not re.fullmatch(path, request.path):
            return answer
        return change(request, answer, parse_json(answer.body))

    return changed


def status_for(status: int, other: int) -> Callable[[Request, Answer, Any], Answer]:
    """Answers with the status `other` instead."""
    return lambda _request, answer, body: json_answer(body, other) if answer.status == status else answer


def error_as_500(name: str) -> Callable[[Request, Answer, Any], Answer]:
    """Answers 500 where the message carries an error of that name."""

    def changed(_request: Request, answer: Answer, body: Any) -> Answer:
        failed = answer.status == 200 and body["info"].get("error", {}).get("name") == name
        return json_answer({"name": "UnknownError", "data": {}}, 500) if failed else answer

    return changed


def prompts(change: Callable[[Body], Body]) -> Callable[[Request], Request]:
    """Changes the prompts that come in, by either route."""

    def changed(request: Request) -> Request:
        sent = request.json()
        if request.method != "POST" or not re.fullmatch(PROMPTS, request.path) or not isinstance(sent, dict):
            return request
        return replace(request, body=json.dumps(change(sent)).encode())

    return changed


def tools_told(change: Callable[[str], str]) -> Callable[[Body], Body]:
    """Changes what the model is told of the results of tools."""

    def changed(body: Body) -> Body:
        told = [{**m, "content": change(m["content"])} if m["role"] == "tool" else m for m in body["messages"]]
        return {**body, "messages": told}

    return changed
