"""Targets that go wrong, as `turnproof` tells it: the right exit code, their last words, and nothing left behind."""

from __future__ import annotations

import contextlib
import re
import socket
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from harness.results import Results, read
from tests.running import COMMAND, ENDPOINTS, Run, canned, turnproof

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="processes are looked for through /proc")

MEASURING = """
import resource, subprocess, sys
print(subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL).returncode)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
"""
TWO = "good_key and header"
"""Two quick checks."""


@dataclass(frozen=True)
class Ended:
    """What came of a turnproof on such a target."""

    code: int
    said: str
    folder: Path

    @property
    def results(self) -> Results:
        return read(self.folder / "out" / "results.jsonl")


def target(folder: Path, mode: str, ready: str) -> str:
    """A target file for the endpoint that misbehaves as `mode` says."""
    path = Path(canned(folder))
    text = path.read_text(encoding="utf-8")
    text = text.replace(f'"{ENDPOINTS / "canned.py"}", ', f'"{ENDPOINTS / "misbehaving.py"}", "{mode}", ')
    path.write_text(text.replace('log = "Running on"', ready), encoding="utf-8")
    return str(path)


def judged(
    folder: Path, mode: str, *arguments: str, ready: str = 'path = "/v1/models"', env: dict[str, str] | None = None
) -> Ended:
    """Run turnproof on such a target to its end, and see that nothing of it is left."""
    temporary = folder / "temporary"
    temporary.mkdir()
    command = arguments or ("run", "-k", TWO, "--out", "out", "--target")
    with Run(*command, target(folder, mode, ready), cwd=folder, env={**(env or {}), "TMPDIR": str(temporary)}) as run:
        code = run.wait()
        assert run.left(within=0.0) == {}
    assert list(temporary.iterdir()) == []
    return Ended(code, run.said, folder)


@pytest.mark.parametrize(
    ("mode", "told", "last"),
    [
        ("crash", "it ended with status 1 before it was ready", "no database"),
        ("killed", "it was killed by SIGKILL before it was ready", "about to be killed"),
        ("surviving_child", "it ended with status 1 before it was ready", "the parent gave up"),
    ],
)
def test_target_that_ends_at_its_start_is_told_with_its_last_words(
    tmp_path: Path, mode: str, told: str, last: str
) -> None:
    ended = judged(tmp_path, mode)
    assert ended.code == 3
    assert f"target not ready (it is ready): {told}" in ended.said
    assert ended.said.endswith(f"  | {last}\n")
    assert ended.results.footer is not None
    assert ended.results.footer.outcome == "not-ready"


@pytest.mark.parametrize(
    ("mode", "told", "last"),
    [
        ("never_ready", r"did not answer within 1 s: .*refused", "waiting for a database"),
        ("deaf", r"did not answer within 1 s: no whole answer within \d", "listening, in a way"),
        ("dripping", r"did not answer within 1 s: no whole answer within \d", "a byte at a time"),
    ],
)
def test_target_that_never_answers_is_given_up(tmp_path: Path, mode: str, told: str, last: str) -> None:
    ended = judged(tmp_path, mode, ready="within = 1")
    assert ended.code == 3
    assert re.search(rf"target not ready \(it is ready\): \S+/v1/models {told}", ended.said)
    assert ended.said.endswith(f"  | {last}\n")


@pytest.mark.parametrize("mode", ["stubborn", "forking"])
def test_what_a_target_leaves_behind_is_ended(tmp_path: Path, mode: str) -> None:
    ended = judged(tmp_path, mode)
    assert ended.code == 0, ended.said
    assert "canned conforms: the only MUST passes" in ended.said


def test_doctor_says_how_many_processes_had_to_be_killed(tmp_path: Path) -> None:
    ended = judged(tmp_path, "forking", "doctor")
    assert ended.code == 0, ended.said
    assert "with nothing left, but not on SIGTERM alone: 1 of its processes had to be killed" in ended.said


def test_flood_of_output_costs_neither_memory_nor_disk(tmp_path: Path) -> None:
    file = target(tmp_path, "flooding", "within = 60")
    measuring = (sys.executable, "-c", MEASURING, COMMAND)
    told = turnproof("run", "-k", TWO, "--out", "out", "--target", file, cwd=tmp_path, command=measuring)
    assert told.stdout.splitlines()[0] == "0", told.stdout + told.stderr
    assert int(told.stdout.splitlines()[1]) < 160_000
    assert sum(path.stat().st_size for path in (tmp_path / "out").iterdir()) < 1_000_000


@pytest.mark.parametrize("mode", ["mortal", "leaving"])
def test_target_that_dies_in_the_middle_is_not_judged_any_further(tmp_path: Path, mode: str) -> None:
    arguments = ("run", "-k", "AUTH", "--out", "out", "--target")
    ended = judged(tmp_path, mode, *arguments)
    assert ended.code == 3, ended.said
    words = {
        "mortal": "it ended with status 9",
        "leaving": r"nothing takes connections at http://127\.0\.0\.1:\d+ any more",
    }
    assert re.search(rf"target not ready \(it stays up\): {words[mode]} \(in test_\w+\[.*\]\)", ended.said)
    assert "  | out of memory\n" in ended.said
    made = ended.results.checks
    assert made
    assert made[-1].verdict != "pass"
    assert {check.verdict for check in made[:-1]} <= {"pass", "not-measured"}
    assert len(made) < len(ended.results.header.planned)


def test_target_that_dies_in_a_worker_is_told_in_the_same_way(tmp_path: Path) -> None:
    ended = judged(tmp_path, "mortal", "run", "-k", "AUTH", "-n", "2", "--out", "out", "--target")
    assert ended.code == 3, ended.said
    assert "target not ready (a worker's target: it stays up): it ended with status 9 (in test_" in ended.said
    assert ended.said.endswith("  | out of memory\n")


@contextlib.contextmanager
def stranger() -> Iterator[str]:
    """A process that is not the target's, which listens on the port that it is told at this address."""

    def obey() -> None:
        with contextlib.suppress(OSError):
            connection, _ = control.accept()
            with connection, socket.create_server(("127.0.0.1", int(connection.recv(16)))) as taken:
                connection.sendall(b".")
                while True:
                    asking, _ = taken.accept()
                    with asking:
                        asking.recv(1 << 16)
                        asking.sendall(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\nconnection: close\r\n\r\n")

    with socket.create_server(("127.0.0.1", 0)) as control:
        threading.Thread(target=obey, daemon=True).start()
        yield f"127.0.0.1:{control.getsockname()[1]}"


def test_answer_of_a_stranger_on_the_port_is_not_taken_for_the_target_s(tmp_path: Path) -> None:
    with stranger() as address:
        ended = judged(tmp_path, "usurped", env={"STRANGER": address})
    assert ended.code == 3
    assert "comes from a process that is not the target's" in ended.said
    assert "let the target use {port}" in ended.said
    assert ended.said.endswith("  | someone has my port\n")


def test_output_that_is_no_text_is_shown_and_does_nothing_to_the_terminal(tmp_path: Path) -> None:
    ended = judged(tmp_path, "unreadable")
    assert ended.code == 3
    assert ended.said.endswith("  | \ufffd\ufffd not text \\x1b[2J\\x1b]0;owned\\x07 \\x00 \\u202e end\n")
