from __future__ import annotations

import base64
import json
import re
import secrets
import shutil
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from harness.engine import Engine
from harness.exchange import Request
from harness.replay import replay
from harness.run import Observer, Order, run
from tests.running import ENDPOINTS, turnproof
from tests.staging import KEY, answering, canned, serving, target_at

ARTEFACTS = {
    "results.jsonl",
    "junit.xml",
    "summary.md",
    "report.html",
    "ctrf.json",
    "badge.svg",
    "badge.json",
}
LEAKY = """
kind = "agent-endpoint"
name = "leaky"
deadline = 5.0

[start]
command = ["{{python}}", "{program}", "{{port}}", "{leaks}"]
env = {{ OWNER = "{{owner_secret}}", CANARY = "{{env:CANARY}}" }}

[ready]
log = "{ready}"
within = 30

[[agents]]
id = "solver"

[[keys]]
name = "given"
state = "valid"
agents = ["solver"]
env = "CANARY"

[[keys]]
name = "minted"
state = "revoked"
agents = ["solver"]

[keys.mint]
path = "/keys"
headers = {{ Authorization = "Bearer {{owner_secret}}" }}
body = {{}}
pointer = "/key"
"""
TELLING = """
import base64, os, runpy, sys
with open("leaks", "w") as file:
    for name in ("OPENCODE_SERVER_PASSWORD", "ENDPOINT_OWNER_TOKEN"):
        file.write(os.environ[name] + "\\n")
    file.write(base64.b64encode(f"opencode:{os.environ['OPENCODE_SERVER_PASSWORD']}".encode()).decode() + "\\n")
sys.argv[0] = "telling.py"
runpy.run_module("harness.reference.endpoint", run_name="__main__", alter_sys=True)
"""


def spellings(secret: str) -> set[str]:
    """As it is, and as it stands in JSON, a URL, Base64 and HTTP Basic."""
    plain = {secret, json.dumps(secret)[1:-1], quote(secret, safe="")}
    return plain | {base64.b64encode(f"{user}{secret}".encode()).decode() for user in ("opencode:", "")}


def found(known: list[str], said: str, out: Path) -> list[str]:
    """Where a secret stands: in what was printed, or in a file."""
    texts = {"printed": said, **{path.name: path.read_text(encoding="utf-8") for path in out.iterdir()}}
    assert set(texts) - {"printed"} == ARTEFACTS
    return [name for secret in known for name, text in texts.items() if any(s in text for s in spellings(secret))]


@pytest.fixture
def canary(monkeypatch: pytest.MonkeyPatch) -> str:
    value = f"canary-{secrets.token_hex(12)}"
    monkeypatch.setenv("CANARY", value)
    return value


def leaky(folder: Path, ready: str = "Running on") -> list[str]:
    """The arguments that judge the leaky endpoint."""
    text = LEAKY.format(program=ENDPOINTS / "leaky.py", leaks=folder / "leaks", ready=ready)
    (folder / "leaky.toml").write_text(text, encoding="utf-8")
    return ["run", "--target", "leaky.toml", "--out", "out", "-k", "auth"]


@pytest.mark.parametrize("options", [(), ("--json",), ("-n", "2")], ids=["table", "json", "n2"])
def test_no_key_and_no_owner_s_secret_is_in_any_artefact(tmp_path: Path, canary: str, options: tuple[str, ...]) -> None:
    told = turnproof(*leaky(tmp_path), *options, cwd=tmp_path)
    known = (tmp_path / "leaks").read_text().splitlines()
    assert told.returncode in (0, 1)
    assert canary in known
    assert len(set(known)) >= 3
    assert found(known, told.stdout + told.stderr, tmp_path / "out") == []
    assert "[secret:key.minted]" in (tmp_path / "out" / "results.jsonl").read_text()


def test_no_secret_is_in_what_a_failed_start_shows(tmp_path: Path, canary: str) -> None:
    arguments = leaky(tmp_path, "never")
    (tmp_path / "leaky.toml").write_text((tmp_path / "leaky.toml").read_text().replace("within = 30", "within = 2"))
    told = turnproof(*arguments, cwd=tmp_path)
    known = (tmp_path / "leaks").read_text().splitlines()
    assert told.returncode == 3
    assert "it knows [secret:owner]" in told.stderr
    assert canary in known
    assert found(known, told.stdout + told.stderr, tmp_path / "out") == []


def test_no_password_of_opencode_is_in_any_artefact(tmp_path: Path) -> None:
    targets = ENDPOINTS.parent.parent / "fixtures" / "targets"
    shutil.copy(targets / "reference-endpoint.json", tmp_path)
    text = (targets / "reference-endpoint.toml").read_text()
    text = text.replace('"-m", "harness.reference.endpoint"', '"telling.py"').replace("#:schema", "#")
    (tmp_path / "telling.toml").write_text(text)
    (tmp_path / "telling.py").write_text(TELLING)
    told = turnproof("run", "--target", "telling.toml", "-k", "scope and json", "--out", "out", cwd=tmp_path)
    known = (tmp_path / "leaks").read_text().splitlines()
    assert told.returncode in (0, 1)
    assert found(known, told.stdout + told.stderr, tmp_path / "out") == []
    results = (tmp_path / "out" / "results.jsonl").read_text()
    assert re.search(r"Basic \[secret:opencode\]", results)
    assert "[secret:key.main]" in results


def test_no_key_is_in_what_is_told_of_a_target_that_refuses_it_by_its_name(
    engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CANNED_KEY", KEY)

    def refuse(request: Request) -> tuple[int, Any]:
        return 401, {"error": f"I do not know {dict(request.headers).get('authorization')}"}

    with serving(engine, answering(refuse)) as url:
        results, error = run(Order(target_at(url), out=tmp_path), Observer())
    assert results.footer is not None
    for told in (str(error), results.footer.error, (tmp_path / "results.jsonl").read_text()):
        assert "I do not know Bearer [secret:key." in str(told)
        assert KEY not in str(told)


@pytest.mark.parametrize("before", [0, 240, 270, 300])
def test_a_key_is_hidden_and_the_finding_confirmed_wherever_what_came_is_cut(
    engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, before: int
) -> None:
    monkeypatch.setenv("CANNED_KEY", KEY)

    def tell(request: Request) -> tuple[int, Any]:
        if request.method == "POST":
            return canned(request)
        return 200, {"a": "x" * before, "key": dict(request.headers).get("authorization"), "more": "y" * 300}

    with serving(engine, answering(tell)) as url:
        results, _ = run(Order(target_at(url), expression="list_holds_exactly", out=tmp_path), Observer())
    assert [check.verdict for check in results.checks] == ["fail"]
    assert KEY[:7] not in (tmp_path / "results.jsonl").read_text()
    assert all(check.agrees for check in replay(results))
