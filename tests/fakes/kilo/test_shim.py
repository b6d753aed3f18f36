"""The shim as targets start it: what it prints, writes down and calls, and what it can be told to do wrong."""

from __future__ import annotations

import base64
import contextlib
import json
import os
import signal
import subprocess
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from harness.behind import ModelAlone, ModelBehind, model_alone
from harness.engine import Engine
from harness.fakes.kilo.shim import write_shim
from harness.fakes.model.script import Answer, Rule, ToolCall, messages_of
from harness.journal import Journal

SECONDS = 20.0


@dataclass(frozen=True)
class Bench:
    """A shim with a model server behind it."""

    shims: Path
    project: Path
    behind: ModelBehind
    started: list[subprocess.Popen[bytes]] = field(default_factory=list)

    def behaves(self, **told: Any) -> None:
        """Say how the shim behaves."""
        (self.shims / "behaviour.json").write_text(json.dumps(told), encoding="utf-8")

    def start(self, *arguments: str, stdin: Any = subprocess.DEVNULL, **env: str) -> subprocess.Popen[bytes]:
        """Start it in its project."""
        own = {"PATH": os.environ["PATH"], "HOME": str(self.project.parent), **env}
        command = [str(self.shims / "kilo"), *arguments]
        pipe = subprocess.PIPE
        process = subprocess.Popen(command, cwd=self.project, env=own, stdin=stdin, stdout=pipe, stderr=pipe)
        self.started.append(process)
        return process

    def run(self, prompt: str = "hello", *more: str, **env: str) -> tuple[int, list[str], str]:
        """Run a turn: exit status, lines on standard output, standard error."""
        process = self.start("run", "--format", "json", "-m", "nemo/m", *more, "--", prompt, **env)
        out, err = process.communicate(timeout=SECONDS)
        return process.returncode, out.decode().splitlines(), err.decode()

    def note(self, name: str) -> Any:
        """What the shim wrote down."""
        return json.loads((self.shims / "runs" / name).read_text(encoding="utf-8"))


@pytest.fixture
def bench(tmp_path: Path, engine: Engine) -> Iterator[Bench]:
    shims, project = tmp_path / "shims", tmp_path / "project"
    project.mkdir()
    write_shim(shims)
    with model_alone(engine, Journal(), ModelAlone(frozenset({"m"}))) as behind:
        options = {"baseURL": behind.model_url, "apiKey": "none"}
        provider = {"npm": "@ai-sdk/openai-compatible", "options": options, "models": {"m": {}}}
        (project / "kilo.json").write_text(json.dumps({"provider": {"nemo": provider}}), encoding="utf-8")
        bench = Bench(shims, project, behind)
        yield bench
        for process in bench.started:
            process.kill()
            process.communicate()


def kinds(lines: list[str]) -> list[str]:
    return [json.loads(line)["type"] for line in lines]


def test_a_turn_is_told_in_events_and_asked_of_the_model(bench: Bench) -> None:
    bench.behind.use_model_rules((Rule("hello", (Answer(text="fine"),)),))
    status, lines, err = bench.run()
    assert (status, kinds(lines), err) == (0, ["step_start", "text", "step_finish"], "")
    assert json.loads(lines[1])["part"]["text"] == "fine"


def test_what_it_was_given_is_written_down(bench: Bench) -> None:
    bench.run("one", OWN="value")
    bench.run("two")
    first, second = bench.note("1.json"), bench.note("2.json")
    assert first["argv"][-2:] == ["--", "one"]
    assert second["argv"][-1] == "two"
    assert first["env"]["OWN"] == "value"
    assert (first["cwd"], first["stdin"]) == (str(bench.project), "null")
    (file,) = first["files"]
    assert file["path"] == str(bench.project / "kilo.json")
    assert base64.b64decode(file["base64"]) == (bench.project / "kilo.json").read_bytes()
    assert file["mode"] == (bench.project / "kilo.json").stat().st_mode & 0o777
    assert bench.note("1.end.json")["status"] == 0


def test_runs_at_once_are_numbered_apart(bench: Bench) -> None:
    under = [bench.start("run", "-m", "nemo/m", "--", str(number)) for number in range(6)]
    for process in under:
        process.communicate(timeout=SECONDS)
    prompts = {bench.note(f"{number}.json")["argv"][-1] for number in range(1, 7)}
    assert prompts == set("012345")


def test_what_another_run_is_about_to_write_takes_no_number(bench: Bench) -> None:
    (bench.shims / "runs").mkdir()
    (bench.shims / "runs" / ".123").write_text("{")
    bench.start("run", "-m", "nemo/m", "--", "1").communicate(timeout=SECONDS)
    assert bench.note("1.json")["argv"][-1] == "1"


def test_a_run_that_is_killed_has_no_end(bench: Bench) -> None:
    bench.behaves(faults={"hang": "start"})
    with bench.start("run", "-m", "nemo/m", "--", "hello") as process:
        _wait_for(bench.shims / "runs" / "1.json")
        process.terminate()
        assert process.wait(SECONDS) == -signal.SIGTERM
    assert not (bench.shims / "runs" / "1.end.json").exists()


@pytest.mark.parametrize(
    ("faults", "status", "told"),
    [
        ({"exit": 7}, 7, ["step_start", "text", "step_finish"]),
        ({"no_events": True}, 0, []),
        ({"silent": True, "exit": 1}, 1, []),
        ({"repeats": 2}, 0, ["step_start"] * 2 + ["text"] * 2 + ["step_finish"] * 2),
        ({"pieces": 3}, 0, ["step_start", "text", "step_finish"]),
    ],
)
def test_a_fault_is_played(bench: Bench, faults: Mapping[str, Any], status: int, told: list[str]) -> None:
    bench.behaves(faults=faults)
    came, lines, _ = bench.run()
    assert (came, kinds(lines)) == (status, told)


def test_lines_are_printed_verbatim_around_and_between_events(bench: Bench) -> None:
    bench.behaves(faults={"lines_before": ["{broken"], "line_between": "~", "lines_after": ["{session}"]})
    _, lines, _ = bench.run()
    assert lines[0] == "{broken"
    assert [line for line in lines if line == "~"] == ["~"] * 3
    assert lines[-1] == json.loads(lines[1])["sessionID"]


def test_a_process_can_outlive_it_in_a_session_of_its_own(bench: Bench) -> None:
    bench.behaves(faults={"detached": 60})
    assert bench.run()[0] == 0
    left = [pid for pid in _processes(str(bench.shims)) if os.getsid(pid) == pid]
    assert len(left) == 1
    os.kill(left[0], signal.SIGKILL)


def test_sigterm_can_be_ignored(bench: Bench) -> None:
    bench.behaves(faults={"hang": "end", "ignores_term": True})
    with bench.start("run", "--format", "json", "-m", "nemo/m", "--", "hello") as process:
        assert process.stdout is not None
        process.stdout.readline()
        process.terminate()
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(0.2)
        process.kill()


def test_the_rules_of_another_version_apply(bench: Bench) -> None:
    bench.behaves(version="7.0.33")
    status, lines, _ = bench.run("hello", "--pure")
    assert (status, lines) == (1, [])
    assert bench.start("--version").communicate(timeout=SECONDS)[0] == b"7.0.33\n"


def test_tools_run_in_a_session_of_their_own_and_only_harmless_ones(bench: Bench) -> None:
    calls = [
        ToolCall("bash", '{"command": "echo $$; echo done", "description": "d"}'),
        ToolCall("bash", '{"command": "true && rm -r nothing"}'),
        ToolCall("write", '{"filePath": "sub/new.txt", "content": "text"}'),
    ]
    steps = (Answer(text="", tool_calls=tuple(calls), finish="tool_calls"), Answer(text="fine"))
    bench.behind.use_model_rules((Rule("hello", steps),))
    _, lines, _ = bench.run()
    ran, refused, wrote = [json.loads(line)["part"]["state"] for line in lines if '"tool_use"' in line]
    assert ran["output"].endswith("done\n")
    assert (refused["status"], refused["error"]) == ("error", "the stand-in does not run rm")
    assert wrote["status"] == "completed"
    assert (bench.project / "sub" / "new.txt").read_text() == "text"


def test_what_is_on_standard_input_is_part_of_the_prompt(bench: Bench) -> None:
    bench.behind.use_model_rules((Rule("hello\nfrom a file", (Answer(text="both"),)),))
    (bench.project / "given").write_text("from a file")
    with (bench.project / "given").open("rb") as given:
        process = bench.start("run", "--format", "json", "-m", "nemo/m", "--", "hello", stdin=given)
        out, _ = process.communicate(timeout=SECONDS)
    assert b'"text":"both"' in out
    assert bench.note("1.json")["stdin"] == "file"


@pytest.mark.parametrize(
    ("version", "given", "prompt"),
    [("7.7.9", b"", "one two"), ("7.7.9", b"three", "one two\nthree"), ("7.0.33", b"three", '"one two"\nthree')],
)
def test_versions_differ_in_what_they_make_of_standard_input(
    bench: Bench, version: str, given: bytes, prompt: str
) -> None:
    bench.behaves(version=version)
    process = bench.start("run", "-m", "nemo/m", "--", "one two", stdin=subprocess.PIPE, KILO_TELEMETRY_LEVEL="off")
    process.communicate(given, timeout=SECONDS)
    texts = [text for call in bench.behind.journal.seen("model") for _, text in messages_of(call.request.json())]
    assert any(text.startswith(prompt) for text in texts)


def test_the_model_is_asked_through_the_proxy_of_the_environment(bench: Bench) -> None:
    proxy = bench.behind.model_url.removesuffix("/v1")
    config = json.loads((bench.project / "kilo.json").read_text())
    config["provider"]["nemo"]["options"]["baseURL"] = "http://elsewhere.invalid/v1"
    (bench.project / "kilo.json").write_text(json.dumps(config))
    bench.run("hello", HTTP_PROXY=proxy, KILO_SESSION_RETRY_LIMIT="0")
    assert any("elsewhere.invalid" in call.request.target for call in bench.behind.journal.seen("model"))


def test_a_proxy_is_not_used_for_what_the_environment_excepts(bench: Bench) -> None:
    status, _, _ = bench.run("hello", HTTP_PROXY="http://127.0.0.1:9", NO_PROXY="127.0.0.1")
    assert status == 0


def _wait_for(path: Path) -> None:
    deadline = time.monotonic() + SECONDS
    while not path.exists():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def _processes(word: str) -> list[int]:
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if word in (folder / "cmdline").read_text():
                found.append(int(folder.name))
    return found
