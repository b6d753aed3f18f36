"""Targets that do nothing of what the contract wants: not one check may pass against them."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

import pytest

from harness.engine import Engine
from harness.exchange import Hop, Request
from harness.fakes.http import Wire
from harness.journal import Journal
from harness.launch import Launch
from harness.listener import free_port
from harness.live import LiveTarget
from harness.pytest_run import Selection, collect, isolated, session_arguments
from harness.recorder import Recorder
from harness.redaction import Redactor
from harness.requirements import catalogue
from harness.results import CheckResult, Writer
from harness.suite_plugin import SuitePlugin
from harness.target import Agent, Policies
from harness.target_keys import FromEnvironment, Key
from tests.staging import Unwatched, answer, answering, serving, target_at

SUITE = "agent_endpoint"
AGENTS = (
    Agent("solver", "house", "open/weights-7b"),
    Agent("clerk", "house", "tiny"),
    Agent("private", "house", "tiny"),
)
KEYS = tuple(
    Key(name, state, ("solver", "clerk"), FromEnvironment("UNUSED"))
    for name, state in (("main", "valid"), ("past", "expired"), ("withdrawn", "revoked"))
)
SECRETS = {key.name: f"secret-of-{key.name}" for key in KEYS}
ENVELOPE = {"message": "no", "type": "invalid_request_error", "code": "model_not_found", "param": "stream"}
Handler = Callable[[Request, Wire], None]


class Unreached(LiveTarget):
    """All hops are watched, and nothing ever comes by: a target that never asks anybody."""

    def observes(self, hop: Hop) -> bool:
        return True

    def use_model_rules(self, rules: Any) -> None:
        pass

    def use_tap_rules(self, rules: Any) -> None:
        pass


def echo(request: Request, wire: Wire) -> None:
    answer(wire, 200, request.body, ("content-type", "application/json"))


def echo_as_stream(request: Request, wire: Wire) -> None:
    answer(wire, 200, request.body, ("content-type", "text/event-stream"))


def speechless(request: Request, wire: Wire) -> None:
    """What was asked for, a stream too, and in it not a word."""
    body = request.json()
    if isinstance(body, dict) and body.get("stream") is True:
        events = [said({"role": "assistant", "content": ""}, None), said({}, "stop"), "[DONE]"]
        data = "".join(f"data: {event}\n\n" for event in events)
        answer(wire, 200, data.encode(), ("content-type", "text/event-stream"))
        return
    message = {"role": "assistant", "content": "", "refusal": None}
    choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": "stop"}
    usage = {"prompt_tokens": 1, "completion_tokens": 0, "total_tokens": 1}
    answer(wire, 200, {**SPOKEN, "object": "chat.completion", "choices": [choice], "usage": usage})


SPOKEN = {"id": "chatcmpl-1", "created": 1, "model": "solver"}


def said(delta: dict[str, str], finish: str | None) -> str:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return json.dumps({**SPOKEN, "object": "chat.completion.chunk", "choices": [choice]})


NOTHING: dict[str, Handler | None] = {
    "closed port": None,
    "always an empty 200": answering(lambda _: (200, b"")),
    "always 500": answering(lambda _: (500, {"error": {**ENVELOPE, "type": "server_error"}})),
    "always without a word": speechless,
    "echo": echo,
    "echo as a stream": echo_as_stream,
    "always 502": answering(lambda _: (502, {"error": {**ENVELOPE, "type": "server_error", "code": "agent_error"}})),
    "always 401": answering(lambda _: (401, {"error": {**ENVELOPE, "code": "invalid_api_key"}})),
    "always 404": answering(lambda _: (404, {"error": ENVELOPE})),
    "always 400": answering(lambda _: (400, {"error": ENVELOPE})),
}
UNDECLARED, REJECTS = Policies(), Policies("reject", "reject")


def judge(engine: Engine, handler: Handler | None, policies: Policies, checks: list[str]) -> list[CheckResult]:
    """These checks of the suite against such a target, without the doctor who would refuse it."""
    needs = {requirement.id: requirement.capability for requirement in catalogue(SUITE)}
    told: list[CheckResult] = []
    with ExitStack() as ends:
        url = ends.enter_context(serving(engine, handler)) if handler else f"http://127.0.0.1:{free_port()}"
        # The margin that is given beyond a deadline is not needed here.
        live = ends.enter_context(Unreached(engine, Journal(), url, SECRETS, DEADLINE - 10.0, None))
        target = target_at(url, agents=AGENTS, keys=KEYS, policies=policies, deadline=DEADLINE, abort_grace=0.1)
        plugin = SuitePlugin(Unwatched(Launch(target, live, None, Redactor(SECRETS)), "seed"), needs)
        recorder = Recorder(Writer(io.StringIO(), Redactor()), told.append)
        with isolated():
            pytest.main(session_arguments(checks), plugins=[Selection(checks), recorder, plugin])
    assert recorder.broken == []
    return told


DEADLINE = 1.0
"""Seconds; every check that waits for something waits in vain."""


DECLARED = "stream_flag or empty_content or user_message or history or unsupported"
"""The files of the checks that look at what a target declares."""


@pytest.mark.parametrize(
    ("name", "policies", "expression"),
    [
        *(pytest.param(name, UNDECLARED, "", id=name) for name in NOTHING),
        pytest.param("always 400", REJECTS, DECLARED, id="always 400, as declared"),
        pytest.param("always 401", REJECTS, DECLARED, id="always 401, as declared"),
    ],
)
def test_no_check_passes(engine: Engine, name: str, policies: Policies, expression: str) -> None:
    checks = [planned.check for planned in collect(SUITE, expression)]
    results = judge(engine, NOTHING[name], policies, checks)
    assert len(results) == len(checks)
    assert [result.check for result in results if result.verdict == "pass"] == []
    assert [result.reason for result in results if result.verdict == "error"] == []
