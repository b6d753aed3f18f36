from __future__ import annotations

import contextlib
import os
import random
import re
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest

from harness import supervised, supervisor
from harness.supervised import StartFailed, Supervised

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="containment is looked at through /proc")

MARK = "TURNPROOF_TEST_MARK"
STUBBORN = "trap '' TERM; echo ready; while :; do sleep 1; done"
DAEMON = """
import os, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.execvp("sleep", ["sleep", "600"])
    os._exit(0)
os.wait()
print("ready", flush=True)
time.sleep(600)
"""
FORKING = """
import os, time
for _ in range(40):
    if os.fork() == 0:
        os.setsid()
        while True:
            if os.fork() == 0:
                time.sleep(0.05)
                os._exit(0)
            os.waitpid(-1, 0)
print("ready", flush=True)
time.sleep(600)
"""
HOLDER = """
import os, re, signal, subprocess, sys, threading, time
from pathlib import Path
from harness.supervised import Supervised

print("begin", flush=True)
process = Supervised.start(sys.argv[1:], env=os.environ, cwd=Path("/"), name="target")
if process.wait_for_line(re.compile("ready"), time.monotonic() + 30):
    print("ready", flush=True)
"""


def eventually(condition: Callable[[], object], seconds: float = 20.0) -> bool:
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.005)
    return True


def is_living(pid: int) -> bool:
    entry = supervisor.process_table().get(pid)
    return entry is not None and entry[2] not in "ZX"


class Marked:
    """Processes are found by a word in their environment: not by what the supervisor believes."""

    def __init__(self) -> None:
        self.word = uuid.uuid4().hex
        self.env: Mapping[str, str] = {**os.environ, MARK: self.word, "PYTHONPATH": os.pathsep.join(sys.path)}

    def living(self) -> set[int]:
        found = set()
        for folder in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                if self.word.encode() in (folder / "environ").read_bytes():
                    found.add(int(folder.name))
        return found

    def start(self, *argv: str, ready_line: re.Pattern[str] | None = None) -> Supervised:
        return Supervised.start(argv, env=self.env, cwd=Path("/"), name="target", ready_line=ready_line)

    def start_ready(self, *argv: str) -> Supervised:
        process = self.start(*argv)
        assert process.wait_for_line(re.compile("ready"), time.monotonic() + 20)
        return process

    def hold(self, *argv: str, then: str = "time.sleep(600)") -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, "-c", HOLDER + then, *argv],
            env=self.env,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )


@pytest.fixture
def marked() -> Iterator[Marked]:
    marked = Marked()
    yield marked
    for pid in marked.living():
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def read_until(holder: subprocess.Popen[str], word: str) -> None:
    assert holder.stdout is not None
    for line in holder.stdout:
        if line.strip() == word:
            return
    raise AssertionError(f"the holder never said {word}")


def kill(holder: subprocess.Popen[str]) -> None:
    holder.kill()
    assert holder.stdout is not None
    holder.stdout.close()
    holder.wait()


def test_stop_ends_the_command(marked: Marked) -> None:
    process = marked.start("sleep", "600")
    process.stop()
    assert marked.living() == set()


def test_stop_reports_the_signal_as_exit_status(marked: Marked) -> None:
    process = marked.start("sleep", "600")
    process.stop()
    assert process.poll() == -signal.SIGTERM


def test_exit_status_is_reported(marked: Marked) -> None:
    assert marked.start("sh", "-c", "exit 7").wait(20) == 7


def test_wait_gives_none_while_the_command_runs(marked: Marked) -> None:
    with marked.start("sleep", "600") as process:
        assert process.wait(0.01) is None


def test_pid_is_the_command_itself(marked: Marked) -> None:
    with marked.start_ready("sh", "-c", "echo ready $$; sleep 600") as process:
        assert process.output.text() == f"ready {process.pid}\n"


def test_linux_processes_are_contained(marked: Marked) -> None:
    with marked.start("sleep", "600") as process:
        assert process.contained


def test_stop_twice_returns_the_same(marked: Marked) -> None:
    process = marked.start_ready("sh", "-c", STUBBORN)
    first = process.stop(0.05)
    assert first
    assert process.stop() == first


def test_leaving_the_context_ends_everything(marked: Marked) -> None:
    with marked.start_ready("sh", "-c", "sleep 600 & echo ready; wait"):
        pass
    assert marked.living() == set()


def test_grandchild_in_another_session_ends_on_stop(marked: Marked) -> None:
    process = marked.start_ready("sh", "-c", "setsid sleep 600 & echo ready; wait")
    assert eventually(lambda: len(marked.living()) == 2)
    process.stop()
    assert marked.living() == set()


def test_double_forked_daemon_ends_on_stop(marked: Marked) -> None:
    process = marked.start_ready(sys.executable, "-c", DAEMON)
    process.stop()
    assert marked.living() == set()


def test_process_that_ignores_sigterm_is_killed_after_the_grace(marked: Marked) -> None:
    process = marked.start_ready("sh", "-c", STUBBORN)
    killed = process.stop(grace=0.2)
    assert process.pid in {leftover.pid for leftover in killed}
    assert marked.living() == set()


def test_process_that_heeds_sigterm_is_not_among_the_killed(marked: Marked) -> None:
    process = marked.start_ready("sh", "-c", "trap 'exit 3' TERM; echo ready; while :; do sleep 0.01; done")
    assert process.stop(grace=20) == ()
    assert process.poll() == 3


def test_what_a_launcher_leaves_is_still_supervised(marked: Marked) -> None:
    process = marked.start("sh", "-c", "setsid sleep 600 & exit 0")
    assert process.wait(20) == 0
    assert eventually(lambda: set(process.descendants()) == marked.living() != set())
    process.stop()
    assert marked.living() == set()


def test_server_of_a_launcher_that_exited_is_waited_for(marked: Marked) -> None:
    process = marked.start("sh", "-c", "(sleep 0.2; echo ready; exec sleep 600) & exit 0")
    with process:
        assert process.wait_for_line(re.compile("ready"), time.monotonic() + 20) == "ready"


def test_descendants_ignore_zombies(marked: Marked) -> None:
    script = "import os, time; os.fork() or os._exit(0); print('ready', flush=True); time.sleep(600)"
    with marked.start_ready(sys.executable, "-c", script) as process:
        assert eventually(lambda: process.descendants() == (process.pid,))


def test_stop_leaves_no_zombie_of_ours(marked: Marked) -> None:
    marked.start("sleep", "600").stop()
    mine = [entry for entry in supervisor.process_table().values() if entry[0] == os.getpid()]
    assert [entry for entry in mine if entry[2] == "Z"] == []


def test_process_that_ends_by_itself_leaves_no_descriptor(marked: Marked) -> None:
    before = len(list(Path("/proc/self/fd").iterdir()))
    marked.start("true").wait(20)
    assert eventually(lambda: len(list(Path("/proc/self/fd").iterdir())) == before)


def test_fork_heavy_target_ends_whole(marked: Marked) -> None:
    process = marked.start_ready(sys.executable, "-c", FORKING)
    process.stop(grace=0)
    assert marked.living() == set()


@pytest.mark.parametrize(
    ("argv", "cwd", "reason"),
    [
        (["no-such-command"], "/", "no-such-command: No such file or directory"),
        (["/proc/self/environ"], "/", "/proc/self/environ: Permission denied (chmod +x makes a program executable)"),
        (["true"], "/no/such/folder", "/no/such/folder: No such file or directory"),
        (["true", "a\0b"], "/", "true: embedded null byte"),
    ],
    ids=["missing", "not executable", "missing folder", "null byte"],
)
def test_start_failure_says_why(argv: list[str], cwd: str, reason: str) -> None:
    with pytest.raises(StartFailed) as caught:
        Supervised.start(argv, env={"PATH": os.defpath}, cwd=Path(cwd), name="target")
    assert caught.value.reason == reason


def test_command_is_looked_up_on_the_path_given(tmp_path: Path) -> None:
    command = tmp_path / "greet"
    command.write_text("#!/bin/sh\necho hello\n")
    command.chmod(0o755)
    process = Supervised.start(["greet"], env={"PATH": str(tmp_path)}, cwd=tmp_path, name="greet")
    process.wait(20)
    assert process.output.text() == "hello\n"


def test_command_starts_in_the_folder_given(tmp_path: Path) -> None:
    process = Supervised.start(["pwd"], env={"PATH": os.defpath}, cwd=tmp_path, name="pwd")
    process.wait(20)
    assert process.output.text() == f"{tmp_path.resolve()}\n"


def test_environment_that_exceeds_a_pipe_arrives_whole() -> None:
    env = {"PATH": os.defpath, **{f"V{number}": "x" * 50_000 for number in range(10)}}
    process = Supervised.start(["sh", "-c", "echo ${#V9}"], env=env, cwd=Path("/"), name="large")
    process.wait(20)
    assert process.output.text() == "50000\n"


def test_standard_input_is_empty() -> None:
    process = Supervised.start(["cat"], env={"PATH": os.defpath}, cwd=Path("/"), name="cat")
    assert process.wait(20) == 0


def test_command_has_no_descriptor_but_the_standard_ones() -> None:
    argv = ["ls", "/proc/self/fd"]
    process = Supervised.start(argv, env={"PATH": os.defpath}, cwd=Path("/"), name="list")
    process.wait(20)
    the_listed_folder = 1
    assert len(process.output.text().split()) == 3 + the_listed_folder


def test_command_dies_of_a_broken_pipe_as_under_a_shell() -> None:
    argv = ["sh", "-c", "yes | head -1"]
    process = Supervised.start(argv, env={"PATH": os.defpath}, cwd=Path("/"), name="pipe")
    process.wait(20)
    assert process.output.text() == "y\n"


def test_flood_of_output_is_drained_and_bounded(marked: Marked) -> None:
    script = "import os\nfor _ in range(800): os.write(2, b'x' * 65536)"
    process = marked.start(sys.executable, "-c", script)
    assert process.wait(60) == 0
    assert process.output.total == 800 * 65536
    assert len(process.output.text()) < 140_000


def test_flood_does_not_hide_the_ready_line(marked: Marked) -> None:
    script = "import os\nos.write(1, b'ready on 1\\n')\nfor _ in range(99): os.write(1, b'x\\n' * 32768)"
    pattern = re.compile(r"ready on \d")
    process = marked.start(sys.executable, "-c", script, ready_line=pattern)
    process.wait(60)
    assert process.wait_for_line(pattern, time.monotonic()) == "ready on 1"


def test_waiting_for_a_line_gives_none_when_the_command_ended_without(marked: Marked) -> None:
    process = marked.start("sh", "-c", "echo other")
    assert process.wait_for_line(re.compile("ready"), time.monotonic() + 60) is None


def test_waiting_for_a_line_does_not_outlast_a_failed_command(marked: Marked) -> None:
    with marked.start("sh", "-c", "sleep 600 & exit 1") as process:
        assert process.wait_for_line(re.compile("ready"), time.monotonic() + 60) is None
        assert process.descendants() != ()


def test_last_words_of_a_failed_command_are_there_at_its_exit(marked: Marked) -> None:
    process = marked.start("sh", "-c", "head -c 300000 /dev/zero; echo; echo last words; exit 1")
    process.wait(20)
    assert process.output.text().endswith("last words\n")


def test_waiting_for_a_line_ends_at_the_deadline(marked: Marked) -> None:
    with marked.start("sleep", "600") as process:
        assert process.wait_for_line(re.compile("ready"), time.monotonic() + 0.05) is None


def test_standard_output_goes_whole_into_a_file(marked: Marked, tmp_path: Path) -> None:
    process = Supervised.start(
        ["sh", "-c", "head -c 300000 /dev/zero; echo note >&2"],
        env=marked.env,
        cwd=tmp_path,
        name="file",
        stdout=tmp_path / "out",
    )
    process.wait(20)
    assert (tmp_path / "out").stat().st_size == 300_000
    assert process.output.text() == "note\n"


@pytest.mark.parametrize(
    "argv",
    [
        ["sh", "-c", "setsid sleep 600 & setsid setsid sleep 600 & echo ready; wait"],
        [sys.executable, "-c", DAEMON],
        ["sh", "-c", STUBBORN],
        [sys.executable, "-c", FORKING],
    ],
    ids=["other sessions", "daemon", "ignores SIGTERM", "forks"],
)
def test_killed_holder_leaves_nothing(marked: Marked, argv: list[str]) -> None:
    holder = marked.hold(*argv)
    read_until(holder, "ready")
    kill(holder)
    assert eventually(lambda: marked.living() == set())


@pytest.mark.parametrize("moment", [random.Random(number).uniform(0, 0.08) for number in range(20)])
def test_holder_killed_at_any_moment_leaves_nothing(marked: Marked, moment: float) -> None:
    script = "for i in 1 2 3 4 5 6 7 8 9; do setsid sleep 600 & done; echo ready; wait"
    holder = marked.hold("sh", "-c", script)
    read_until(holder, "begin")
    with contextlib.suppress(subprocess.TimeoutExpired):
        holder.wait(moment)
    kill(holder)
    assert eventually(lambda: marked.living() == set())


def test_holder_killed_within_the_grace_leaves_nothing(marked: Marked) -> None:
    holder = marked.hold("sh", "-c", STUBBORN, then="print('stopping', flush=True); process.stop(600)")
    read_until(holder, "stopping")
    kill(holder)
    assert eventually(lambda: marked.living() == set())


def test_other_children_do_not_keep_the_control_pipe_open(marked: Marked) -> None:
    then = """
other = subprocess.Popen(["sleep", "600"], close_fds=False, env={"PATH": os.defpath}, stdout=2)
print("other", flush=True)
print(other.pid, flush=True)
other.wait()
"""
    holder = marked.hold("sh", "-c", "echo ready; exec sleep 600", then=then)
    read_until(holder, "other")
    assert holder.stdout is not None
    other = int(holder.stdout.readline())
    kill(holder)
    gone = eventually(lambda: marked.living() == set())
    still_there = is_living(other)
    os.kill(other, signal.SIGKILL)
    assert gone
    assert still_there


def test_interrupt_of_our_group_does_not_reach_the_target(marked: Marked) -> None:
    then = """
interrupted = threading.Event()
signal.signal(signal.SIGINT, lambda *_: interrupted.set())
print("waiting", flush=True)
interrupted.wait()
process.stop()
print(process.output.text(), end="", flush=True)
"""
    traps = "trap 'echo interrupted' INT; trap 'echo terminated; exit' TERM;"
    script = f"{traps} echo ready; while :; do sleep 0.01; done"
    holder = marked.hold("sh", "-c", script, then=then)
    read_until(holder, "waiting")
    assert holder.stdout is not None
    os.killpg(holder.pid, signal.SIGINT)
    said = holder.stdout.read().split()
    kill(holder)
    assert "terminated" in said
    assert "interrupted" not in said


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_signalled_supervisor_ends_everything(marked: Marked, number: signal.Signals) -> None:
    process = marked.start_ready("sh", "-c", "setsid sleep 600 & echo ready; " + STUBBORN)
    os.kill(supervisor.process_table()[process.pid][0], number)
    assert eventually(lambda: marked.living() == set())
    process.stop()


def test_stop_ends_the_session_of_a_killed_supervisor(marked: Marked) -> None:
    process = marked.start_ready("sh", "-c", "sleep 600 & echo ready; " + STUBBORN)
    os.kill(supervisor.process_table()[process.pid][0], signal.SIGKILL)
    process.stop()
    assert marked.living() == set()


def test_killed_supervisor_is_reported_as_killed_command(marked: Marked) -> None:
    process = marked.start("sleep", "600")
    os.kill(supervisor.process_table()[process.pid][0], signal.SIGKILL)
    assert process.wait(20) == -signal.SIGKILL


def test_without_subreaper_the_group_ends_and_it_says_so(
    marked: Marked, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = tmp_path / "elsewhere.py"
    script.write_text(
        "import runpy, sys\nsys.platform = 'elsewhere'\n"
        f"runpy.run_path({str(supervised.SCRIPT)!r}, run_name='__main__')\n"
    )
    monkeypatch.setattr(supervised, "SCRIPT", script)
    process = marked.start_ready("sh", "-c", "sleep 600 & echo ready; wait")
    process.stop()
    assert not process.contained
    assert marked.living() == set()


def test_worker_dies_with_its_parent(marked: Marked) -> None:
    worker = (
        "import time; from harness.supervised import own_process_dies_with_parent as bind; "
        "bind(); print('ready', flush=True); time.sleep(600)"
    )
    starter = "import subprocess, sys; subprocess.run([sys.executable, '-c', sys.argv[1]])"
    parent = subprocess.Popen(
        [sys.executable, "-c", starter, worker],
        env=marked.env,
        stdout=subprocess.PIPE,
        text=True,
    )
    read_until(parent, "ready")
    kill(parent)
    assert eventually(lambda: marked.living() == set())
