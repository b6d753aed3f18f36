from __future__ import annotations

import socket
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
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


@contextmanager
def _endpoint(engine: Engine, parts: Parts | None, database: Path, **settings: Any) -> Iterator[str]:
    """The URL of an endpoint that runs until all of its turns are over."""
    config = Config(
        agents=AGENTS,
        database=str(database),
        opencode_password="opencode-password",
        owner_token="owner-token",
        registry_token="registry-token",
        **{"deadline": 5.0, "abort_grace": 0.5, **settings},
    )
    server = uvicorn.Server(uvicorn.Config(create_app(config, parts), log_level="critical"))
    with socket.create_server(("127.0.0.1", 0)) as listener:
        engine.call(_start(server, listener), 5)
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        engine.call(server.shutdown([listener]), 10)


@contextmanager
def _client(url: str) -> Iterator[httpx.Client]:
    """A client with a new key for all agents but `secret`."""
    with httpx.Client(base_url=url, timeout=10, verify=False, headers={"connection": "close"}) as client:
        agents = ["research", "team/ops", "idle"]
        minted = client.post("/api/agent-model-keys", headers=OWNER, json={"agent_ids": agents})
        client.headers["authorization"] = f"Bearer {minted.json()['key']}"
        yield client


@pytest.fixture(scope="module")
def module_engine() -> Iterator[Engine]:
    with Engine() as running:
        yield running


@pytest.fixture(scope="module")
def module_stub(module_engine: Engine) -> Iterator[OpencodeStub]:
    stub = OpencodeStub()
    module_engine.call(stub.http.start(), 5)
    yield stub
    module_engine.call(stub.http.stop(), 5)


@pytest.fixture(scope="module")
def module_url(
    module_engine: Engine, module_stub: OpencodeStub, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[str]:
    database = tmp_path_factory.mktemp("endpoint") / "keys.sqlite3"
    with _endpoint(module_engine, None, database, opencode_url=module_stub.http.url) as url:
        yield url


@pytest.fixture
def opencode(module_stub: OpencodeStub) -> OpencodeStub:
    module_stub.clear()
    return module_stub


@pytest.fixture
def client(module_url: str, module_stub: OpencodeStub) -> Iterator[httpx.Client]:
    """A client of an endpoint that tests share."""
    module_stub.clear()
    with _client(module_url) as client:
        yield client


@pytest.fixture
def start(module_engine: Engine, opencode: OpencodeStub, tmp_path: Path) -> Iterator[Start]:
    """Start an endpoint for one test, with these settings and parts; a client of it."""
    with ExitStack() as stack:

        def start(parts: Parts | None = None, **settings: Any) -> httpx.Client:
            settings = {"opencode_url": opencode.http.url, **settings}
            url = stack.enter_context(_endpoint(module_engine, parts, tmp_path / "keys.sqlite3", **settings))
            return stack.enter_context(_client(url))

        yield start
