from __future__ import annotations

import asyncio
import subprocess
import sys
import threading

import pytest

from harness.engine import Engine
from harness.errors import HarnessError

STACK = """
import asyncio, gc, os, socket
from harness.engine import Engine
from harness.fakes.model.script import Answer, Rule
from harness.fakes.model.server import ModelServer
from harness.journal import Journal
from harness.tap import Tap

def sockets():
    found = 0
    for fd in os.listdir("/proc/self/fd"):
        try:
            found += os.readlink(f"/proc/self/fd/{fd}").startswith("socket:")
        except FileNotFoundError:
            pass
    return found

async def tasks():
    return len(asyncio.all_tasks()) - 1

before = sockets()
with Engine() as engine:
    journal = Journal()
    model = ModelServer(["m"])
    model.script.replace([Rule(None, (Answer("abc", piece=1, pause=30.0),))])
    engine.call(model.start(), 10)
    tap = Tap("model", model.url, journal)
    engine.call(tap.start(), 10)
    body = b'{"model":"m","stream":true,"messages":[{"role":"user","content":"x"}]}'
    clients = []
    for url in (model.url, tap.url) * 5:
        client = socket.create_connection(("127.0.0.1", int(url.rsplit(":", 1)[1])), 10)
        client.sendall(b"POST /v1/chat/completions HTTP/1.1\\r\\nContent-Length: %d\\r\\n\\r\\n%b" % (len(body), body))
        clients.append((client, client.recv(10)))
        idle = socket.create_connection(client.getpeername(), 10)
        idle.sendall(b"GET /v1/models HTTP/1.1\\r\\n\\r\\n")
        clients.append((idle, idle.recv(10)))
    engine.call(tap.stop(), 10)
    engine.call(model.stop(), 10)
    assert engine.call(tasks(), 10) == 0, "tasks are left"
    assert {exchange.end for exchange in journal.seen()} == {"gone", "complete"}
    for client, _ in clients:
        client.close()
gc.collect()
assert sockets() == before, "sockets are left"
"""


async def running_thread() -> threading.Thread:
    return threading.current_thread()


def test_call_runs_on_a_thread_of_the_engine(engine: Engine) -> None:
    assert engine.call(running_thread(), 10) is not threading.current_thread()


def test_calls_share_one_loop(engine: Engine) -> None:
    async def loop() -> asyncio.AbstractEventLoop:
        return asyncio.get_running_loop()

    assert engine.call(loop(), 10) is engine.call(loop(), 10)


def test_error_of_the_coroutine_comes_out_of_the_call(engine: Engine) -> None:
    async def fail() -> None:
        raise KeyError("x")

    with pytest.raises(KeyError):
        engine.call(fail(), 10)


def test_time_out_inside_the_coroutine_stays_a_time_out(engine: Engine) -> None:
    async def fail() -> None:
        raise TimeoutError("its own")

    with pytest.raises(TimeoutError, match="its own"):
        engine.call(fail(), 10)


def test_call_that_does_not_end_in_time_is_an_error_of_the_harness(engine: Engine) -> None:
    with pytest.raises(HarnessError, match=r"0\.01 s"):
        engine.call(asyncio.Event().wait(), 0.01)


def test_call_that_does_not_end_in_time_is_cancelled(engine: Engine) -> None:
    cancelled = threading.Event()

    async def wait() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            cancelled.set()

    with pytest.raises(HarnessError):
        engine.call(wait(), 0.01)
    assert cancelled.wait(10)


def test_exit_cancels_what_still_runs_and_waits_for_it() -> None:
    ended = threading.Event()
    kept: list[asyncio.Task[None]] = []

    async def clean_up_slowly() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0.01)
            ended.set()

    async def begin() -> None:
        kept.append(asyncio.get_running_loop().create_task(clean_up_slowly()))
        await asyncio.sleep(0)

    with Engine() as engine:
        engine.call(begin(), 10)
    assert ended.is_set()


def test_exit_ends_the_thread() -> None:
    with Engine() as engine:
        thread = engine.call(running_thread(), 10)
    assert not thread.is_alive()


def test_exit_ends_the_thread_although_a_task_cannot_be_cancelled(monkeypatch: pytest.MonkeyPatch) -> None:
    async def never() -> None:
        raise HarnessError("it goes on")

    monkeypatch.setattr("harness.engine._cancel_others", never)
    with pytest.raises(HarnessError, match="it goes on"), Engine() as engine:
        thread = engine.call(running_thread(), 10)
    assert not thread.is_alive()


def test_exit_passes_the_error_of_the_body_on() -> None:
    with pytest.raises(KeyError), Engine():
        raise KeyError("x")


def test_two_engines_run_side_by_side(engine: Engine) -> None:
    with Engine() as other:
        assert engine.call(running_thread(), 10) is not other.call(running_thread(), 10)


@pytest.mark.skipif(sys.platform != "linux", reason="open sockets are looked at through /proc")
@pytest.mark.parametrize("loop", ["", "import sys; sys.modules['uvloop'] = None"], ids=["uvloop", "asyncio"])
def test_stopped_stack_leaves_no_task_no_socket_and_no_warning(loop: str) -> None:
    command = [sys.executable, "-X", "dev", "-W", "error", "-c", loop + STACK]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (0, "")
