from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest

from harness.engine import Engine
from harness.exchange import Exchange
from harness.journal import Journal
from harness.tap import Tap
from tests.reference.endpoint.conftest import client, module_engine, module_stub, module_url, opencode, start
from tests.reference.endpoint.events import (
    answer,
    assistant,
    delta,
    error,
    idle,
    opened,
    status,
    turn,
    user,
)
from tests.reference.endpoint.opencode_stub import OpencodeStub

__all__ = ["client", "module_engine", "module_stub", "module_url", "opencode", "start"]

HERE = Path(__file__).parent
NODE = shutil.which("node")
PROXIES = ("http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY")


def python(program: str, module: str, *marks: pytest.MarkDecorator) -> Any:
    """A client that is a Python program and needs a module."""
    return pytest.param([sys.executable, str(HERE / program)], id=module, marks=marks)


def javascript(program: str, package: str) -> Any:
    """A client that is a JavaScript program and needs a package beside it."""
    installed = NODE is not None and (HERE / "node_modules" / package).is_dir()
    reason = f"{package} is not installed: npm install --prefix tests/clients"
    return pytest.param([NODE, str(HERE / program)], id=package, marks=pytest.mark.skipif(not installed, reason=reason))


CLIENTS = [
    python("openai_client.py", "openai"),
    python("litellm_client.py", "litellm", pytest.mark.extra("litellm")),
    javascript("ai_sdk_client.mjs", "@ai-sdk/openai-compatible"),
]
EACH = pytest.mark.parametrize("command", CLIENTS)
BOTH = pytest.mark.parametrize("mode", ["json", "stream"])


@dataclass(frozen=True)
class Endpoint:
    """The reference behind a tap, with a key for its agents."""

    url: str
    key: str
    journal: Journal

    def ask(self, command: list[str], mode: str, **changed: str) -> dict[str, Any]:
        """What a client makes of the answer to a question."""
        given = {"key": self.key, "model": "research", **changed}
        environ = {name: value for name, value in os.environ.items() if name not in PROXIES}
        said = subprocess.run(
            [*command, mode, f"{self.url}/v1", given["key"], given["model"], "Hello"],
            capture_output=True,
            text=True,
            check=True,
            timeout=60,
            env=environ,
        )
        outcome: dict[str, Any] = json.loads(said.stdout)
        return outcome

    def calls(self) -> tuple[Exchange, ...]:
        """The requests that came through the tap."""
        return self.journal.seen("client")


@pytest.fixture
def endpoint(client: httpx.Client, engine: Engine) -> Iterator[Endpoint]:
    journal = Journal()
    tap = Tap("client", str(client.base_url).rstrip("/"), journal)
    engine.call(tap.start(), 10)
    yield Endpoint(tap.url, client.headers["authorization"].removeprefix("Bearer "), journal)
    engine.call(tap.stop(), 10)


@EACH
@BOTH
def test_client_gets_the_agents_words(
    endpoint: Endpoint, opencode: OpencodeStub, command: list[str], mode: str
) -> None:
    opencode.script = turn(answer("Many words, and an \u00e9."))
    assert endpoint.ask(command, mode) == {"text": "Many words, and an \u00e9."}


@EACH
@BOTH
@pytest.mark.parametrize(
    ("changed", "wanted"), [({"key": "unknown"}, 401), ({"model": "nobody"}, 404), ({"model": "idle"}, 400)]
)
def test_client_raises_what_the_endpoint_refuses(
    endpoint: Endpoint, command: list[str], mode: str, changed: dict[str, str], wanted: int
) -> None:
    outcome = endpoint.ask(command, mode, **changed)
    assert (outcome.get("status"), [call.status for call in endpoint.calls()]) == (wanted, [wanted])


@EACH
@BOTH
def test_client_raises_when_the_turn_fails(
    endpoint: Endpoint, opencode: OpencodeStub, command: list[str], mode: str
) -> None:
    opencode.script = [user(), status("busy"), error("APIError"), idle()]
    outcome = endpoint.ask(command, mode)
    assert ("raised" in outcome, [call.status for call in endpoint.calls()]) == (True, [502])


@EACH
def test_client_raises_when_a_stream_breaks(endpoint: Endpoint, opencode: OpencodeStub, command: list[str]) -> None:
    begun = [user(), status("busy"), assistant("msg_a"), opened("msg_a", "prt_t"), delta("msg_a", "prt_t", "half")]
    opencode.script = [*begun, error("APIError"), idle()]
    outcome = endpoint.ask(command, "stream")
    assert ("raised" in outcome, [call.status for call in endpoint.calls()]) == (True, [200])
