from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from harness.engine import Engine
from harness.exchange import Chunk, Request
from harness.fakes.model.core import json_plan
from harness.fakes.plan import Plan
from harness.fakes.resources import ResourcesServer
from harness.journal import Journal
from harness.reference.kilo.app import create_app
from harness.reference.kilo.config import read_config
from tests.reference.kilo.lines import TURN, error

CLI = """
import sys
from pathlib import Path
arguments = sys.argv[2:]
folder = Path(arguments[arguments.index("--dir") + 1])
Path(sys.argv[1]).write_text((folder / "kilo.json").read_text())
sys.stdout.buffer.write(Path(__file__).with_name("events").read_bytes())
"""


@contextmanager
def agent(folder: Path, *lines: bytes, **more: Any) -> Iterator[TestClient]:
    """An agent whose CLI prints these lines and writes down its `kilo.json`."""
    script = folder / "cli.py"
    script.write_text(CLI)
    (folder / "events").write_bytes(b"\n".join(lines) + b"\n")
    command = [sys.executable, str(script), str(folder / "seen.json")]
    config = {"model": "a/b", "model_server": "http://127.0.0.1:9/v1", "command": command, "timeout": 60, **more}
    with TestClient(create_app(read_config(config))) as client:
        yield client


@pytest.fixture
def resources() -> Iterator[tuple[str, Journal]]:
    journal = Journal()
    with ExitStack() as ends:
        engine = ends.enter_context(Engine())
        server = ResourcesServer(journal)
        engine.call(server.start(), 5)
        ends.callback(lambda: engine.call(server.stop(), 5))
        yield server.url, journal


def seen_url(folder: Path) -> str:
    settings = json.loads((folder / "seen.json").read_text())
    return str(settings["provider"]["nemo"]["options"]["baseURL"])


def test_a_turn_becomes_a_completed_response(tmp_path: Path) -> None:
    with agent(tmp_path, *TURN) as client:
        body = client.post("/v1/responses", json={"input": "hello"}).json()
    assert (body["object"], body["status"], body["error"], body["model"]) == ("response", "completed", None, "a/b")
    assert [item["type"] for item in body["output"]] == [
        "reasoning",
        "message",
        "function_call",
        "function_call_output",
    ]
    assert body["usage"]["total_tokens"] == 150
    assert seen_url(tmp_path) == "http://127.0.0.1:9/v1"


@pytest.mark.parametrize("path", ["/ng-rollout/r.1/v1/responses", "/v1/responses"])
def test_the_prefix_of_a_rollout_goes_into_the_model_servers_address(tmp_path: Path, path: str) -> None:
    with agent(tmp_path, *TURN) as client:
        assert client.post(path, json={"input": "hello"}).status_code == 200
    prefix = path.removesuffix("/v1/responses")
    assert seen_url(tmp_path) == f"http://127.0.0.1:9{prefix}/v1"


def test_a_failed_run_is_a_failed_response(tmp_path: Path) -> None:
    with agent(tmp_path, error("the model is gone")) as client:
        body = client.post("/v1/responses", json={"input": "hello"}).json()
    assert (body["status"], body["error"]["code"]) == ("failed", "never_ran")
    assert "the model is gone" in body["error"]["message"]


def test_a_budget_that_is_not_likely_to_fit_is_told_beside_the_answer(tmp_path: Path) -> None:
    with agent(tmp_path, *TURN, max_output_tokens=32000) as client:
        body = client.post("/v1/responses", json={"input": "hello"}).json()
    assert body["status"] == "completed"
    assert "max_output_tokens" in body["metadata"]["output_budget"]


def test_a_rollout_is_seeded_run_and_verified(tmp_path: Path, resources: tuple[str, Journal]) -> None:
    url, journal = resources
    with agent(tmp_path, *TURN, resources_server=url) as client:
        body = client.post("/ng-rollout/r/run", json={"responses_create_params": {"input": "hi"}, "task": 7}).json()
    assert (body["reward"], body["task"], body["response"]["status"]) == (1.0, 7, "completed")
    requests: list[Request] = [exchange.request for exchange in journal.seen("resources")]
    assert [request.path for request in requests] == ["/seed_session", "/verify"]
    assert requests[1].json()["response"]["status"] == "completed"
    assert ("cookie", "session=1") in [(name.lower(), value) for name, value in requests[1].headers]


def test_a_resources_server_that_is_not_there_is_a_502(tmp_path: Path) -> None:
    with agent(tmp_path, *TURN, resources_server="http://127.0.0.1:9") as client:
        reply = client.post("/run", json={"responses_create_params": {"input": "hi"}})
    assert (reply.status_code, reply.json()["error"]["type"]) == (502, "server_error")


def test_a_verdict_that_is_no_object_is_a_502(
    tmp_path: Path, resources: tuple[str, Journal], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ResourcesServer, "_answer", lambda *_: json_plan([1.0]))
    with agent(tmp_path, *TURN, resources_server=resources[0]) as client:
        reply = client.post("/run", json={"responses_create_params": {"input": "hi"}})
    assert (reply.status_code, "no object" in reply.json()["error"]["message"]) == (502, True)


def test_a_resources_server_has_one_deadline_for_its_whole_answer(
    tmp_path: Path, resources: tuple[str, Journal], monkeypatch: pytest.MonkeyPatch
) -> None:
    drips = Plan(200, (("content-type", "application/json"),), tuple(Chunk(0.05 * count, b" ") for count in range(400)))
    monkeypatch.setattr(ResourcesServer, "_answer", lambda *_: drips)
    monkeypatch.setattr("harness.reference.kilo.resources._SECONDS", 0.5)
    with agent(tmp_path, *TURN, resources_server=resources[0]) as client:
        reply = client.post("/run", json={"responses_create_params": {"input": "hi"}})
    assert (reply.status_code, "TimeoutError" in reply.json()["error"]["message"]) == (502, True)


@pytest.mark.parametrize(
    ("path", "body", "status"),
    [
        ("/v1/responses", b"{", 400),
        ("/v1/responses", b"[]", 400),
        ("/v1/responses", b'{"input": "a\\u0000b"}', 400),
        ("/run", b'{"responses_create_params": {"input": "x"}}', 400),
        ("/run", b"{}", 400),
        ("/ng-rollout/a/b/run", b"{}", 404),
        ("/nowhere", b"{}", 404),
        ("/health", b"{}", 405),
    ],
)
def test_refusals_are_in_the_error_envelope(tmp_path: Path, path: str, body: bytes, status: int) -> None:
    with agent(tmp_path, *TURN) as client:
        reply = client.post(path, content=body)
    assert reply.status_code == status
    assert reply.json()["error"]["message"]


def test_a_project_that_cannot_be_copied_is_a_run_that_never_was(tmp_path: Path) -> None:
    with agent(tmp_path, *TURN, repo_dir=str(tmp_path / "nowhere")) as client:
        body = client.post("/v1/responses", json={"input": "hello"}).json()
    assert (body["status"], body["error"]["code"]) == ("failed", "never_ran")
    assert "nowhere" in body["error"]["message"]


def test_it_is_healthy(tmp_path: Path) -> None:
    with agent(tmp_path) as client:
        assert client.get("/health").json() == {"status": "ok"}
