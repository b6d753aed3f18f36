"""An endpoint that its user starts, in front of what `turnproof up` holds, judged by `turnproof run --attach`."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest

import harness
from harness.listener import free_port
from harness.results import Results, read
from harness.supervised import Supervised
from harness.verdict import Status, summarise
from tests.running import Run, turnproof

OWNER = "owner-word-of-the-test"
CONFIG = Path(harness.__file__).parent / "fixtures" / "targets" / "reference-endpoint.json"
ROWS = "SCOPE-1 or STREAM-3 or FAULT-3 or FAULT-6 or (FAULT-2 and half) or TURN-2 or TURN-4 or TURN-6"
AGENTS = {"writer": "litellm/small-1", "research": "litellm/vendor/large-1", "ledger": "litellm/small-1"}
SCOPES = {"MAIN_KEY": ["writer", "research"], "OTHER_KEY": ["writer", "ledger"]}


def described(port: int) -> str:
    """A target file for the endpoint on a port."""
    agents = [f'[[agents]]\nid = "{id_}"\nmodel = "{model}"' for id_, model in AGENTS.items()]
    keys = [
        f'[[keys]]\nname = "{variable.lower()}"\nstate = "valid"\nagents = {scope}\nenv = "{variable}"'
        for variable, scope in SCOPES.items()
    ]
    head = f'kind = "agent-endpoint"\nname = "running"\nurl = "http://127.0.0.1:{port}"'
    limits = "deadline = 2.5\nabort_grace = 0.5\n[ready]\nwithin = 60"
    return "\n".join([head, limits, *agents, *keys])


class Field:
    """What `turnproof up` holds, and a target file that names the port of an endpoint to come."""

    def __init__(self, up: Run, port: int, file: Path) -> None:
        self.port, self.file = port, str(file)
        self.opencode, self.password = self._printed(up, r"^opencode +(\S+) .*password (\S+)\)$")
        (self.control,) = self._printed(up, r"^control +(\S+)$")

    @staticmethod
    def _printed(up: Run, pattern: str) -> tuple[str, ...]:
        found = re.search(pattern, up.said, re.M)
        assert found is not None, up.said
        return found.groups()


@pytest.fixture(scope="module")
def field(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Field]:
    folder, port = tmp_path_factory.mktemp("up"), free_port()
    (folder / "running.toml").write_text(described(port), encoding="utf-8")
    with Run("up", "running.toml", cwd=folder) as up:
        up.until("^turnproof run")
        yield Field(up, port, folder / "running.toml")
        up.signal(signal.SIGINT)
        assert up.wait() == 0
        if sys.platform == "linux":
            assert up.left() == {}


Serving = Callable[..., contextlib.AbstractContextManager[dict[str, str]]]


@pytest.fixture
def serving(field: Field, tmp_path: Path) -> Serving:
    """Starts the reference, or one with a flaw, as its user would: the environment that holds its keys."""

    @contextlib.contextmanager
    def serve(*program: str) -> Iterator[dict[str, str]]:
        env = {
            "OPENCODE_URL": field.opencode,
            "OPENCODE_SERVER_PASSWORD": field.password,
            "ENDPOINT_DATABASE": str(tmp_path / "keys.sqlite3"),
            "ENDPOINT_OWNER_TOKEN": OWNER,
            "ENDPOINT_FOLDERS": str(tmp_path / "folders"),
            "ENDPOINT_DEADLINE": "2.5",
        }
        command = [sys.executable, "-m", *program, "--port", str(field.port), "--config", str(CONFIG)]
        with Supervised.start(command, env={**os.environ, **env}, cwd=tmp_path, name="endpoint"):
            yield {variable: minted(field.port, scope) for variable, scope in SCOPES.items()}

    return serve


def minted(port: int, agents: list[str]) -> str:
    """A key for these agents, as soon as the endpoint is up."""
    transport = httpx.HTTPTransport(retries=0)
    deadline = time.monotonic() + 60
    with httpx.Client(transport=transport, timeout=10, headers={"authorization": f"Bearer {OWNER}"}) as http:
        while True:
            try:
                url = f"http://127.0.0.1:{port}/api/agent-model-keys"
                return str(http.post(url, json={"agent_ids": agents}).json()["key"])
            except httpx.ConnectError:
                assert time.monotonic() < deadline, "the endpoint does not come up"


def verdicts(results: Results) -> dict[str, Status]:
    return {row.requirement.id: row.verdict for row in summarise(results).rows}


def test_it_is_judged_as_if_turnproof_had_started_it(field: Field, serving: Serving, tmp_path: Path) -> None:
    with serving("harness.reference.endpoint") as env:
        attach = ("--target", field.file, "--attach", field.control, "--out", "attached")
        told = turnproof("run", "-k", ROWS, *attach, cwd=tmp_path, env=env)
    assert told.returncode == 0, told.stdout + told.stderr
    started = turnproof("run", "-k", ROWS, "--out", "started", cwd=tmp_path)
    assert started.returncode == 0, started.stdout + started.stderr
    results = {name: read(tmp_path / name / "results.jsonl") for name in ("attached", "started")}
    assert verdicts(results["attached"]) == verdicts(results["started"])
    assert results["attached"].header.parts == results["started"].header.parts
    assert {exchange.hop for exchange in results["attached"].exchanges.values()} == {"client", "opencode", "model"}
    again = turnproof("verify", "attached/results.jsonl", cwd=tmp_path)
    assert (again.returncode, again.stdout.splitlines()[-1].split()[1]) == (0, str(len(results["attached"].checks)))
    record = (tmp_path / "attached" / "results.jsonl").read_text(encoding="utf-8")
    secrets = (*env.values(), field.password, field.control.rsplit("/", 1)[1])
    assert [secret for secret in secrets if secret in record] == []


def test_flaws_that_only_the_parts_behind_it_show_are_found(field: Field, serving: Serving, tmp_path: Path) -> None:
    expression = "STREAM-3 or SCOPE-1 or FAULT-6"
    with serving("harness.mutants.endpoint", "refused_turn_runs") as env:
        attach = ("--target", field.file, "--attach", field.control, "--out", "out")
        told = turnproof("run", "-k", expression, *attach, cwd=tmp_path, env=env)
    assert told.returncode == 1, told.stdout + told.stderr
    found = verdicts(read(tmp_path / "out" / "results.jsonl"))
    assert [id_ for id_, verdict in found.items() if verdict != "pass"] == ["AE-SCOPE-1"]


def test_run_that_is_killed_leaves_the_stack_to_the_next(field: Field, serving: Serving, tmp_path: Path) -> None:
    with serving("harness.reference.endpoint") as env:
        attach = ("--attach", field.control)
        with Run("run", "-k", ROWS, "--target", field.file, *attach, cwd=tmp_path, env=env) as run:
            run.until("^3/")
            run.signal(signal.SIGKILL)
            key = {"TURNPROOF_API_KEY": env["MAIN_KEY"]}
            told = turnproof("doctor", f"http://127.0.0.1:{field.port}", *attach, cwd=tmp_path, env=key)
    assert told.returncode == 0, told.stdout + told.stderr
    assert "a nonce made it all the way round" in told.stdout


def test_second_run_at_the_same_time_is_refused(field: Field, serving: Serving, tmp_path: Path) -> None:
    with serving("harness.reference.endpoint") as env:
        attach = ("--attach", field.control)
        with Run("run", "--target", field.file, *attach, cwd=tmp_path, env=env) as run:
            run.until("^3/")
            told = turnproof("doctor", field.file, *attach, cwd=tmp_path, env=env)
            run.signal(signal.SIGINT)
            assert run.wait() == 130
    assert told.returncode == 3, told.stdout + told.stderr
    assert "another run has the hold" in told.stderr


def test_a_live_round_trip_is_made_over_what_is_held(field: Field, serving: Serving, tmp_path: Path) -> None:
    with serving("harness.reference.endpoint") as env:
        attach = ("--attach", field.control, "--out", "live", "--commit", "a" * 40)
        told = turnproof("live", field.file, *attach, cwd=tmp_path, env=env)
    assert told.returncode == 0, told.stdout + told.stderr
    verified = turnproof("verify", "live/evidence.json", "--commit", "aaaaaaa", cwd=tmp_path)
    assert verified.returncode == 0, verified.stdout + verified.stderr
    assert f"commit     {'a' * 40}, as a person said" in verified.stdout
    assert "all 6 made again" in verified.stdout
