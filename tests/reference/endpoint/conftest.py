from __future__ import annotations

import socket
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
import uvicorn

from harness.engine import Engine
from harness.reference.endpoint.app import create_app
from harness.reference.endpoint.config import Config
from harness.reference.endpoint.parts import Parts
from tests.reference.endpoint.opencode_stub import OpencodeStub

AGENTS = {"research": "litellm/vendor/large-1", "team/ops": "litellm/small-1", "idle": None, "secret": "litellm/x"}
OWNER = {"authorization": "Bearer owner-token"}

Start = Callable[..., httpx.Client]


async def _start(server: uvicorn.Server, listener: socket.socket) -> None:
    """What `Server.serve` does, but for the signals and the main loop with its ticks."""
    server.config.load()
    server.lifespan = server.config.lifespan_class(server.config)
    await server.startup([listener])


@pytest.fixture
def opencode(engine: Engine) -> Iterator[OpencodeStub]:
    stub = OpencodeStub()
    engine.call(stub.http.start(), 5)
    yield stub
    engine.call(stub.http.stop(), 5)


@pytest.fixture
def start(engine: Engine, opencode: OpencodeStub, tmp_path: Path) -> Iterator[Start]:
    """Start the endpoint with these settings and parts; a client of it, with a key for all agents but `secret`."""
    ends: list[Callable[[], None]] = []

    def start(parts: Parts | None = None, **settings: Any) -> httpx.Client:
        settings = {"opencode_url": opencode.http.url, "deadline": 5.0, "abort_grace": 0.5, **settings}
        config = Config(
            agents=AGENTS,
            database=str(tmp_path / "keys.sqlite3"),
            opencode_password="opencode-password",
            owner_token="owner-token",
            registry_token="registry-token",
            **settings,
        )
        listener = socket.create_server(("127.0.0.1", 0))
        server = uvicorn.Server(uvicorn.Config(create_app(config, parts), log_level="critical"))
        engine.call(_start(server, listener), 5)
        client = httpx.Client(base_url=f"http://127.0.0.1:{listener.getsockname()[1]}", timeout=10)

        def end() -> None:
            client.close()
            engine.call(server.shutdown([listener]), 10)

        ends.append(end)
        minted = client.post(
            "/api/agent-model-keys", headers=OWNER, json={"agent_ids": ["research", "team/ops", "idle"]}
        )
        client.headers["authorization"] = f"Bearer {minted.json()['key']}"
        return client

    yield start
    for end in ends:
        end()


@pytest.fixture
def client(start: Start) -> httpx.Client:
    return start()
