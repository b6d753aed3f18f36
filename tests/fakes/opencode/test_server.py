"""What the recordings do not hold; the rest is compared with them in `tests/record/test_stand_in.py`."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest

from harness.engine import Engine
from harness.fakes.model.server import ModelServer
from harness.fakes.opencode.behaviour import Behaviour
from harness.fakes.opencode.server import OpencodeServer, with_pace
from harness.opencode import config


@pytest.fixture
def model(engine: Engine) -> Iterator[ModelServer]:
    server = ModelServer({"small-1"})
    engine.call(server.start(), 10)
    yield server
    engine.call(server.stop(), 10)


@pytest.fixture
def http(engine: Engine, model: ModelServer, tmp_path: Path) -> Iterator[httpx.Client]:
    settings = config(f"{model.url}/v1", [("litellm", "small-1")])
    server = OpencodeServer(settings, tmp_path, None, behaviour=replace(Behaviour(), heartbeat=0.05))
    engine.call(server.start(), 10)
    with httpx.Client(base_url=server.url, trust_env=False, timeout=10) as client:
        yield client
    engine.call(server.stop(), 10)


def ask(http: httpx.Client, **body: Any) -> httpx.Response:
    session = http.post("/session", json={"title": "t"}).json()["id"]
    parts = [{"type": "text", "text": "hello"}]
    return http.post(f"/session/{session}/message", json={"parts": parts, **body})


def test_a_prompt_without_a_model_takes_the_configured_one(http: httpx.Client) -> None:
    assert ask(http).json()["info"]["modelID"] == "small-1"


def test_a_request_of_another_shape_is_answered(http: httpx.Client) -> None:
    session = http.post("/session", json={"title": "t"}).json()["id"]
    asked = [
        http.patch(f"/session/{session}", json=["no object"]),
        http.get(f"/session/{session}/message?limit=few"),
        http.post("/permission/per_x/reply", json=["no object"]),
    ]
    assert [answer.status_code for answer in asked] == [400, 400, 400]


def test_heartbeats_come_on_an_otherwise_silent_stream(http: httpx.Client) -> None:
    with http.stream("GET", "/event") as stream:
        lines = (line for line in stream.iter_lines() if line)
        kinds = [json.loads(next(lines).removeprefix("data:"))["type"] for _ in range(3)]
    assert kinds == ["server.connected", "server.heartbeat", "server.heartbeat"]


def test_an_open_server_asks_for_no_password(http: httpx.Client) -> None:
    assert http.get("/global/health").status_code == 200


def test_stopping_ends_a_turn_whose_model_is_silent(engine: Engine, tmp_path: Path) -> None:
    silent = ModelServer({"small-1"})
    engine.call(silent.start(), 10)
    server = OpencodeServer(config(f"{silent.url}/v1", [("litellm", "small-1")]), tmp_path, None)
    engine.call(server.start(), 10)
    with httpx.Client(base_url=server.url, trust_env=False) as client:
        session = client.post("/session", json={}).json()["id"]
        client.post(f"/session/{session}/prompt_async", json={"parts": [{"type": "text", "text": "x"}]})
    engine.call(server.stop(), 10)
    engine.call(silent.stop(), 10)


def test_a_pace_shortens_the_waits() -> None:
    fast = with_pace(Behaviour(), 10.0)
    assert fast.heartbeat == 1.0
    assert fast.retry_after(1, {"retry-after": "5"}) == 0.5
