from __future__ import annotations

import contextlib
import os
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from harness.engine import Engine
from harness.errors import TargetNotReady
from harness.listener import free_port
from harness.readiness import await_ready
from harness.supervised import Supervised
from harness.target import Ready
from tests.staging import answering, serving

SERVER = """
import http.server, sys, os
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(int(self.path[1:] or 200)); self.send_header("content-length", "0"); self.end_headers()
    def log_message(self, *_): pass
server = http.server.HTTPServer(("127.0.0.1", int(sys.argv[1])), Handler)
print("listening", flush=True)
server.serve_forever()
"""
ASLEEP = "import time; time.sleep(600)"

Start = Callable[..., Supervised]


@pytest.fixture
def start() -> Iterator[Start]:
    with contextlib.ExitStack() as ends:

        def start(program: str, *arguments: str, ready: Ready | None = None) -> Supervised:
            line = re.compile(ready.log) if ready and ready.log else None
            argv = [sys.executable, "-c", program, *arguments]
            process = Supervised.start(argv, env=os.environ, cwd=Path("/"), name="target", ready_line=line)
            return ends.enter_context(process)

        yield start


@pytest.fixture
def port() -> int:
    return free_port()


@pytest.fixture
def url(port: int) -> str:
    return f"http://127.0.0.1:{port}"


def test_answer_of_the_started_process_is_readiness(start: Start, port: int, url: str) -> None:
    await_ready(Ready("/404", within=30), url, start(SERVER, str(port)))


def test_only_the_named_status_counts_when_one_is_named(start: Start, port: int, url: str) -> None:
    process = start(SERVER, str(port))
    await_ready(Ready("/401", status=401, within=30), url, process)
    with pytest.raises(TargetNotReady, match=r"/200 answered 200 for 0\.2 s, where 401 was wanted"):
        await_ready(Ready("/200", status=401, within=0.2), url, process)


def test_server_error_is_no_readiness(start: Start, port: int, url: str) -> None:
    process = start(SERVER, str(port))
    await_ready(Ready("/200", within=30), url, process)
    with pytest.raises(TargetNotReady, match="/503 answered 503"):
        await_ready(Ready("/503", within=0.2), url, process)


def test_log_line_is_readiness_without_a_path(start: Start, url: str) -> None:
    ready = Ready(path=None, log="list.*ing", within=30)
    await_ready(ready, url, start("print('so', flush=True); print('listening', flush=True); input()", ready=ready))


def test_log_line_that_does_not_come_is_named(start: Start, url: str) -> None:
    ready = Ready(path=None, log="never", within=0.1)
    with pytest.raises(TargetNotReady, match=r"no line of its output matched 'never' within 0\.1 s") as caught:
        await_ready(ready, url, start(ASLEEP, ready=ready))
    assert caught.value.step == "it is ready"


def test_log_line_is_found_in_a_flood(start: Start, url: str) -> None:
    flood = """
import sys, time
for _ in range(300): sys.stdout.write("x" * 9999 + "\\n")
print("listening", flush=True)
for _ in range(300): sys.stdout.write("y" * 9999 + "\\n")
sys.stdout.flush(); time.sleep(600)
"""
    ready = Ready(path=None, log="listening", within=60)
    await_ready(ready, url, start(flood, ready=ready))


def test_flood_does_not_keep_an_answer_from_coming(start: Start, port: int, url: str) -> None:
    flooding = "print('x' * 5_000_000, flush=True)\n" + SERVER
    await_ready(Ready("/200", within=60), url, start(flooding, str(port)))


def test_process_that_was_not_told_its_port_is_hinted_at_it(start: Start, url: str) -> None:
    with pytest.raises(TargetNotReady, match="did not answer") as caught:
        await_ready(Ready(within=0.1), url, start(ASLEEP), told_port=False)
    assert "[start] holds no {port}" in caught.value.hint


@pytest.mark.parametrize("ready", [Ready("/200", within=60), Ready(path=None, log="never", within=60)])
def test_crash_at_start_is_told_with_its_status(start: Start, url: str, ready: Ready) -> None:
    with pytest.raises(TargetNotReady, match="it ended with status 3 before it was ready"):
        await_ready(ready, url, start("import sys; print('oh'); sys.exit(3)", ready=ready))


def test_server_that_a_launcher_leaves_behind_is_waited_for(start: Start, port: int, url: str) -> None:
    launcher = f"""
import subprocess, sys
subprocess.Popen([sys.executable, "-c", "import time; time.sleep(0.5)\\n" + {SERVER!r}, sys.argv[1]])
"""
    process = start(launcher, str(port))
    assert process.wait(30) == 0
    await_ready(Ready("/200", within=30), url, process)


def test_launcher_that_leaves_nothing_behind_is_not_waited_for(start: Start, url: str) -> None:
    with pytest.raises(TargetNotReady, match="it ended with status 0 before it was ready"):
        await_ready(Ready("/200", within=600), url, start("pass"))


@pytest.mark.skipif(sys.platform != "linux", reason="asks the kernel through /proc")
def test_answer_of_a_stranger_on_the_port_is_refused(start: Start, engine: Engine) -> None:
    with (
        serving(engine, answering(lambda _: (200, {}))) as url,
        pytest.raises(TargetNotReady, match="comes from a process that is not the target's") as caught,
    ):
        await_ready(Ready("/", within=30), url, start(ASLEEP))
    assert "{port}" in caught.value.hint


def test_target_given_by_url_is_ready_when_it_answers(engine: Engine) -> None:
    with serving(engine, answering(lambda _: (401, {}))) as url:
        await_ready(Ready(within=30), url, None)


def test_target_given_by_url_that_does_not_answer_is_not_ready(url: str) -> None:
    with pytest.raises(TargetNotReady, match=r"within 0\.1 s"):
        await_ready(Ready(within=0.1), url, None)
