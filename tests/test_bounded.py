from __future__ import annotations

import contextlib
import json
import socket
import threading
import time
from collections.abc import Callable, Iterator

import httpx
import pytest

from harness.bounded import ANSWER_BYTES, send, status_of
from harness.engine import Engine
from harness.exchange import Request
from harness.listener import free_port
from tests.staging import answering, serving

HEAD = b"HTTP/1.1 200 OK\r\n\r\n"
Say = Callable[[socket.socket], None]


@contextlib.contextmanager
def saying(say: Say) -> Iterator[str]:
    """The URL of a server that says this to whoever connects, until they leave."""

    def serve() -> None:
        with contextlib.suppress(OSError):
            connection, _ = listener.accept()
            with connection:
                connection.recv(1 << 16)
                say(connection)

    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    thread.join(10)


def drip(connection: socket.socket) -> None:
    connection.sendall(b"HTTP/1.1 200 OK\r\nx: ")
    while True:
        connection.sendall(b"a")
        time.sleep(0.01)


def flood(connection: socket.socket) -> None:
    connection.sendall(HEAD)
    while True:
        connection.sendall(b"x" * 65536)


def test_status_is_had(engine: Engine) -> None:
    with serving(engine, answering(lambda _: (404, {}))) as url:
        assert status_of(url, 5) == 404


def test_answer_is_had_whole(engine: Engine) -> None:
    asked: list[Request] = []

    def decide(request: Request) -> tuple[int, object]:
        asked.append(request)
        return 201, {"key": "x"}

    with serving(engine, answering(decide)) as url:
        answer = send("POST", f"{url}/keys", {"x-a": "b"}, {"agents": []}, 5)
    assert (answer.status_code, answer.json()) == (201, {"key": "x"})
    assert (asked[0].path, json.loads(asked[0].body), dict(asked[0].headers)["x-a"]) == ("/keys", {"agents": []}, "b")


def test_answer_that_drips_is_over_at_the_deadline() -> None:
    began = time.monotonic()
    with saying(drip) as url, pytest.raises(httpx.HTTPError, match=r"no whole answer within 0\.3 s"):
        status_of(url, 0.3)
    assert time.monotonic() - began < 5


def test_status_does_not_wait_for_a_body_without_an_end() -> None:
    with saying(flood) as url:
        assert status_of(url, 10) == 200


def test_body_without_an_end_is_not_read_on() -> None:
    with saying(flood) as url, pytest.raises(httpx.HTTPError, match=f"more than {ANSWER_BYTES} bytes"):
        send("GET", url, {}, None, 30)


def test_closed_port_is_told_as_the_system_tells_it() -> None:
    with pytest.raises(httpx.HTTPError, match=r"^Connection refused$"):
        status_of(f"http://127.0.0.1:{free_port()}", 5)


def test_host_without_an_address_is_told_as_the_system_tells_it() -> None:
    with pytest.raises(httpx.HTTPError, match=r"not known|failure in name resolution|No address"):
        status_of("http://nobody.invalid", 20)
