"""An endpoint in another framework, which waits on another route of opencode, judged by command and by URL."""

from __future__ import annotations

import contextlib
import os
import re
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness import opencode
from harness.engine import Engine
from harness.fakes.model.server import ModelServer
from harness.fetch import fetch
from harness.listener import free_port
from harness.results import Results, read
from harness.supervised import Supervised
from harness.verdict import Status, summarise
from tests.running import EXAMPLES, turnproof

AIOHTTP = EXAMPLES / "aiohttp"
KEY = "sk-foreign-0123456789"
MODELS = [("house", "open/weights-7b"), ("house", "tiny")]
ROWS = "AUTH-1 or SCOPE-1 or STREAM-1 or STREAM-3 or EMPTY-1 or TURN-2 or FAULT-3 or FAULT-6"
KEPT = f"({ROWS}) and not STREAM-10 and not STREAM-11 and not FAULT-11"
"""The rows that the endpoint sets out to keep; it is too small for the others."""
QUICK = f"{KEPT} and not giving_up"
"""The checks that wait for deadlines are made once, for the endpoint without a flaw."""
FEW = "(AUTH-1 and json) or STREAM-1 or FAULT-3"


def verdicts(folder: Path) -> dict[str, Status]:
    """The verdict on each requirement."""
    return {row.requirement.id: row.verdict for row in summarise(results(folder)).rows}


def results(folder: Path) -> Results:
    return read(folder / "out" / "results.jsonl")


def test_endpoint_of_another_framework_conforms(tmp_path: Path) -> None:
    told = turnproof(
        "run", "--target", str(AIOHTTP / "target.toml"), "-k", KEPT, "--opencode", "real", "--out", "out", cwd=tmp_path
    )
    assert told.returncode == 0, told.stdout + told.stderr
    assert set(verdicts(tmp_path).values()) == {"pass"}


def test_its_planted_fault_is_found_and_nothing_else(tmp_path: Path) -> None:
    arguments = ["run", "--target", str(AIOHTTP / "target.toml"), "-k", QUICK, "--out", "out"]
    told = turnproof(*arguments, cwd=tmp_path, env={"FLAW": "truthy-flag"})
    assert told.returncode == 1, told.stdout + told.stderr
    assert [id_ for id_, verdict in verdicts(tmp_path).items() if verdict != "pass"] == ["AE-STREAM-1"]


@pytest.fixture
def behind(engine: Engine, tmp_path: Path) -> Iterator[dict[str, str]]:
    """The environment that leads an endpoint to an opencode that turnproof knows nothing of."""
    model = ModelServer({name for _, name in MODELS})
    engine.call(model.start(), 10)
    binary = fetch(f"opencode@{opencode.VERSION}", say=lambda _: None)
    settings = opencode.config(f"{model.url}/v1", MODELS)
    process, url = opencode.start(binary, tmp_path, settings, "word")
    with process:
        # The first turn of an opencode on a busy machine takes longer than the deadline of the example.
        yield {"OPENCODE_URL": url, "OPENCODE_PASSWORD": "word", "ENDPOINT_KEY": KEY, "DEADLINE": "60"}
    engine.call(model.stop(), 10)


@contextlib.contextmanager
def serving(env: dict[str, str]) -> Iterator[str]:
    """The base URL of the endpoint with this environment."""
    port, ready = free_port(), re.compile("Running on")
    command = [sys.executable, str(AIOHTTP / "endpoint.py"), str(port)]
    given = {**os.environ, **env}
    with Supervised.start(command, env=given, cwd=AIOHTTP, name="endpoint", ready_line=ready) as process:
        assert process.wait_for_line(ready, time.monotonic() + 60)
        yield f"http://127.0.0.1:{port}"


def test_endpoint_at_a_url_is_judged_as_far_as_it_can_be_asked(behind: dict[str, str], tmp_path: Path) -> None:
    env = {"TURNPROOF_API_KEY": KEY}
    with serving({**behind, "FLAW": "truthy-flag"}) as url:
        told = turnproof("run", "--target", f"{url}/v1", "-k", FEW, "--out", "out", cwd=tmp_path, env=env)
    assert told.returncode == 1, told.stdout + told.stderr
    found = verdicts(tmp_path)
    assert [id_ for id_, verdict in found.items() if verdict == "fail"] == ["AE-STREAM-1"]
    assert [id_ for id_, verdict in found.items() if verdict == "not-measured"]
    assert "pass" in found.values()
    for check in results(tmp_path).checks:
        if check.verdict == "not-measured":
            assert check.reason
            assert check.reason in re.sub(r"\s+", " ", told.stdout)
    assert KEY not in (tmp_path / "out" / "results.jsonl").read_text()


def test_what_is_not_measured_at_a_url_fails_only_when_all_is_required(behind: dict[str, str], tmp_path: Path) -> None:
    with serving(behind) as url:
        asked = ["run", "--target", url, "-k", "(AUTH-1 and header) or (FAULT-6 and not child)", "--out", "out"]
        lenient, strict = (
            turnproof(*asked, *more, cwd=tmp_path, env={"TURNPROOF_API_KEY": KEY}) for more in ((), ("--require-all",))
        )
    assert lenient.returncode == 0, lenient.stdout + lenient.stderr
    assert strict.returncode == 1, strict.stdout + strict.stderr
    assert "AE-FAULT-6 giving up at the deadline aborts the turn" in re.sub(r"\s+", " ", strict.stdout)
