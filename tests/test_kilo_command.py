"""Agents that are a command: started for each prompt, by a server of ours."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from harness.errors import TargetNotReady
from harness.kilo_agent_actors import RESPONSES, RUN, unaskable
from harness.kilo_agent_start import as_variables
from harness.kilo_command import __file__ as server
from harness.kilo_command import run, told
from harness.replay import replay
from harness.run import Observer, Order
from harness.run import run as measure
from harness.target import Asked
from harness.target_file import load
from harness.verdict import summarise

AGENT = Path(__file__).parent / "endpoints" / "kilo_command.py"
WORD = "0123456789abcdef"
PRINTS = (
    sys.executable,
    "-c",
    "import os, sys; print(sys.stdin.read(), sys.argv[1:], os.environ.get('AGENT_ROLLOUT'))",
)
HEAD = 'kind = "kilo-agent"\nname = "a command"\ndeadline = 25.0\ninterface = "command"\n'


def text_of(body: Any) -> str:
    return str(body["output"][0]["content"][0]["text"])


def test_prompt_stands_in_the_arguments_where_the_command_has_its_place() -> None:
    ran = run([*PRINTS, f"-p={WORD}"], WORD, "a 'quoted' größer", None)
    assert (ran.status, text_of(ran.body)) == (200, """ ["-p=a 'quoted' größer"] None""")


def test_prompt_comes_on_standard_input_where_the_command_has_no_place_for_it() -> None:
    assert text_of(run(PRINTS, WORD, "line\n größer", None).body) == "line\n größer [] None"


def test_command_is_told_its_rollout(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AGENT_ROLLOUT", "another")
    assert text_of(run(PRINTS, WORD, "", "a.b-c").body) == " [] a.b-c"
    assert text_of(run(PRINTS, WORD, "", None).body) == " [] None"


def test_command_that_ends_with_another_status_has_failed() -> None:
    ran = run((sys.executable, "-c", "print('half'); raise SystemExit(3)"), WORD, "", None)
    assert (ran.status, ran.body["error"]["message"], ran.ended) == (500, "the command ended with status 3", 3)


def test_command_that_prints_nothing_has_said_nothing() -> None:
    ran = run((sys.executable, "-c", ""), WORD, "", None)
    assert (ran.status, ran.body["status"], text_of(ran.body)) == (200, "completed", "")


def test_command_is_told_with_its_place_for_the_prompt_and_its_configuration(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AGENT_MODEL", "vendor/größer")
    headers = told(("agent", f"-p={WORD}"), WORD)
    assert json.loads(headers["turnproof-command"]) == ["agent", "-p={prompt}"]
    assert json.loads(headers["turnproof-variables"])["AGENT_MODEL"] == "vendor/größer"


def test_server_of_a_command_that_there_is_not_ends_and_says_so() -> None:
    ran = subprocess.run(
        [sys.executable, server, "0", WORD, "./no-such"], capture_output=True, text=True, timeout=60, check=False
    )
    assert ran.returncode == 127
    assert "./no-such: there is no such command" in ran.stderr


def test_server_of_a_script_that_is_not_executable_says_so(tmp_path: Path) -> None:
    (tmp_path / "my agent.sh").write_text("#!/bin/sh\n", encoding="utf-8")
    ran = subprocess.run(
        [sys.executable, server, "0", WORD, "./my agent.sh"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert ran.returncode == 127
    assert "./my agent.sh: it is there, and is not executable: chmod +x './my agent.sh'" in ran.stderr


@pytest.mark.parametrize(
    ("asked", "path", "body", "askable"),
    [
        ("argument", RESPONSES, {"input": "Hello"}, True),
        ("argument", RUN, {"responses_create_params": {"input": "Hello"}}, False),
        ("argument", RESPONSES, {"input": "Hello", "instructions": "Be brief"}, False),
        ("argument", RESPONSES, {"input": [{"role": "user", "content": "Hello"}]}, False),
        ("argument", RESPONSES, {"input": "a\0b"}, False),
        ("stdin", RESPONSES, {"input": "a\0b"}, True),
        ("argument", RESPONSES, {"input": "ß" * 65_536}, False),
        ("argument", RESPONSES, {"input": "x" * 131_071}, True),
        ("stdin", RESPONSES, {"input": "x" * 200_000}, True),
        ("stdin", RESPONSES, {"input": "\ud800"}, False),
    ],
)
def test_command_can_be_asked_a_prompt_that_it_can_hold(asked: Asked, path: str, body: Any, askable: bool) -> None:
    assert (unaskable(asked, path, body) == "") is askable


def test_configuration_becomes_variables() -> None:
    told = as_variables({"model": "vendor/m", "thinking": True, "reasoning_field": None, "kilo_config": {"a": [1]}})
    assert told == {
        "AGENT_MODEL": "vendor/m",
        "AGENT_THINKING": "true",
        "AGENT_REASONING_FIELD": "null",
        "AGENT_KILO_CONFIG": '{"a": [1]}',
    }


def written(folder: Path, command: list[str], more: str = "") -> Path:
    path = folder / "agent.toml"
    path.write_text(f"{HEAD}{more}[start]\ncommand = {json.dumps(command)}\n", encoding="utf-8")
    return path


FILED = "CAPTURE-1 and responses or PARSE-1 and tokens"


@pytest.mark.parametrize("place", [["{prompt}"], []], ids=["argument", "standard input"])
def test_agent_that_is_a_command_is_judged(tmp_path: Path, place: list[str]) -> None:
    path = written(tmp_path, ["{python}", str(AGENT), *place], 'configuration = "environment"\n')
    results, error = measure(Order(load(path), "kilo_agent", FILED, out=tmp_path), Observer())
    assert error is None
    verdicts = {row.requirement.id: row.verdict for row in summarise(results).rows}
    assert verdicts == {"KA-CAPTURE-1": "pass", "KA-PARSE-1": "not-measured"}
    assert [check.check for check in replay(results) if not check.agrees] == []


def test_answer_says_how_the_command_was_run(tmp_path: Path) -> None:
    path = written(tmp_path, ["{python}", str(AGENT), "{prompt}"], 'configuration = "environment"\n')
    results, _ = measure(Order(load(path), "kilo_agent", "CAPTURE-1 and responses", out=tmp_path), Observer())
    answer = next(one for one in results.exchanges.values() if one.hop == "client")
    assert json.loads(answer.header("turnproof-command") or "") == [sys.executable, str(AGENT), "{prompt}"]
    assert "AGENT_MODEL" in (answer.header("turnproof-variables") or "")
    assert answer.header("turnproof-exit-status") == "0"
    assert answer.header("server") == "turnproof, in front of the command"


def test_command_that_forgets_its_rollout_is_caught(tmp_path: Path) -> None:
    command = ["env", "-u", "AGENT_ROLLOUT", "AGENT_CONFIG={config}", "{python}", str(AGENT), "{prompt}"]
    order = Order(load(written(tmp_path, command)), "kilo_agent", "CAPTURE-1 and responses", out=tmp_path)
    results, error = measure(order, Observer())
    assert error is None
    assert [check.verdict for check in results.checks] == ["fail"]


@pytest.mark.parametrize(
    ("command", "words"), [(["cat"], "0 calls reached"), (["./no-such"], "there is no such command")]
)
def test_command_that_is_no_agent_is_not_judged(tmp_path: Path, command: list[str], words: str) -> None:
    path = written(tmp_path, command, 'configuration = "environment"\n')
    _, error = measure(Order(load(path), "kilo_agent", "CONF-1", out=tmp_path), Observer())
    assert isinstance(error, TargetNotReady)
    assert words in error.message + error.log
