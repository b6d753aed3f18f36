from __future__ import annotations

import contextlib
import re
import socket
import struct
import threading
from collections.abc import Callable

import pytest

from harness.client import Client
from harness.engine import Engine
from harness.exchange import Exchange, Request
from harness.journal import Journal, Recording
from harness.listener import free_port

GET = Request("GET", "/v1/models?x=1")
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n"


class Peer:
    """The far side of one connection: `says` is what it does once it has heard the request."""

    def __init__(self, says: Callable[[socket.socket], object]) -> None:
        self._says = says
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._thread = threading.Thread(target=self._run, daemon=True)
        self.heard = b""
        self.over = threading.Event()
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"

    def __enter__(self) -> Peer:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.over.set()
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._thread.join(10)

    def _run(self) -> None:
        with contextlib.suppress(OSError):
            sock, _ = self._listener.accept()
            with sock:
                sock.settimeout(10)
                while not self._has_heard_all():
                    self.heard += sock.recv(65536)
                self._says(sock)

    def _has_heard_all(self) -> bool:
        head, end, body = self.heard.partition(b"\r\n\r\n")
        length = re.search(rb"(?i)content-length: (\d+)", head)
        return bool(end) and len(body) >= int(length[1] if length else 0)


@pytest.fixture
def recording() -> Recording:
    return Journal().record("client", GET)


Send = Callable[..., Exchange]


@pytest.fixture
def send(engine: Engine, recording: Recording) -> Send:
    """Send GET, or another request, to a URL; what was recorded."""

    def send(url: str, request: Request = GET, deadline: float = 10.0) -> Exchange:
        engine.call(Client(url).send(request, recording, deadline), 20)
        return recording.snapshot()

    return send


def test_answer_is_recorded_as_it_came(send: Send) -> None:
    with Peer(lambda sock: sock.sendall(HEAD + b"X-A: \xe9\r\nContent-Length: 3\r\n\r\n\xff\x00a")) as peer:
        seen = send(peer.url)
    assert (seen.status, seen.end, seen.body, seen.header("x-a")) == (200, "complete", b"\xff\x00a", "\xe9")


def test_request_goes_out_byte_for_byte(send: Send) -> None:
    request = Request("POST", "/a%20b?c={d}", (("X-Odd", "a  b"),), b'{"a":\xff}')
    with Peer(lambda sock: sock.sendall(HEAD + b"Content-Length: 0\r\n\r\n")) as peer:
        send(peer.url, request)
    assert peer.heard.startswith(b"POST /a%20b?c={d} HTTP/1.1\r\n")
    assert b"X-Odd: a  b\r\n" in peer.heard
    assert peer.heard.endswith(b'\r\n\r\n{"a":\xff}')


def test_no_content_encoding_is_asked_for(send: Send) -> None:
    with Peer(lambda sock: sock.sendall(HEAD + b"Content-Length: 0\r\n\r\n")) as peer:
        send(peer.url)
    assert b"accept-encoding: identity\r\n" in peer.heard.lower()


def test_redirect_is_an_answer_and_not_followed(send: Send) -> None:
    moved = b"HTTP/1.1 302 Found\r\nLocation: /elsewhere\r\nContent-Length: 0\r\n\r\n"
    with Peer(lambda sock: sock.sendall(moved)) as peer:
        assert send(peer.url).status == 302


def test_proxy_of_the_environment_is_not_used(send: Send, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", f"http://127.0.0.1:{free_port()}")
    with Peer(lambda sock: sock.sendall(HEAD + b"Content-Length: 0\r\n\r\n")) as peer:
        assert send(peer.url).status == 200


def test_deadline_is_for_the_whole_exchange_though_bytes_drip(send: Send) -> None:
    def drip(sock: socket.socket) -> None:
        sock.sendall(HEAD + b"Content-Length: 100000\r\n\r\n")
        while not peer.over.wait(0.02):
            sock.sendall(b"x")

    with Peer(drip) as peer:
        seen = send(peer.url, deadline=0.3)
    assert (seen.end, seen.error) == ("gone", "no end within 0.3 s")
    assert seen.duration is not None
    assert seen.duration >= 0.3
    assert b"xxx" in seen.body


def test_time_that_is_given_beyond_a_declared_deadline_is_told_apart(engine: Engine, recording: Recording) -> None:
    with Peer(lambda _: peer.over.wait(10)) as peer:
        engine.call(Client(peer.url).send(GET, recording, 0.1, late=0.2), 20)
    assert recording.snapshot().error == "no end within 0.3 s: the declared deadline of 0.1 s, and 0.2 s more"


def test_deadline_is_for_a_silent_target_too(send: Send) -> None:
    with Peer(lambda _: peer.over.wait(10)) as peer:
        seen = send(peer.url, deadline=0.05)
    assert (seen.end, seen.status) == ("gone", None)


def test_cancelled_client_leaves_and_the_far_side_sees_it(engine: Engine, recording: Recording) -> None:
    left = threading.Event()

    def hold(sock: socket.socket) -> None:
        sock.sendall(HEAD + b"Content-Length: 100\r\n\r\nhalf")
        if sock.recv(100) == b"":
            left.set()

    with Peer(hold) as peer:
        sending = engine.submit(Client(peer.url).send(GET, recording, 60.0))
        assert holds(recording, b"half")
        sending.cancel()
        assert left.wait(10)
    seen = recording.snapshot()
    assert (seen.end, seen.error, seen.body) == ("gone", "left on purpose", b"half")


def holds(recording: Recording, body: bytes) -> bool:
    waited = threading.Event()
    for _ in range(1000):
        if recording.snapshot().body == body:
            return True
        waited.wait(0.01)
    return False


@pytest.mark.parametrize(
    "said",
    [
        HEAD + b"Content-Length: 100\r\n\r\nhalf",
        HEAD + b"Transfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n",
        HEAD + b"Transfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\nnonsense\r\n",
    ],
    ids=["short of its length", "no last chunk", "broken chunk"],
)
def test_answer_that_ends_early_is_cut(send: Send, said: bytes) -> None:
    with Peer(lambda sock: sock.sendall(said)) as peer:
        seen = send(peer.url)
    assert (seen.status, seen.end, seen.body) == (200, "cut", b"half")
    assert seen.error


def test_reset_in_the_middle_is_a_cut(send: Send) -> None:
    def reset(sock: socket.socket) -> None:
        sock.sendall(HEAD + b"Content-Length: 100\r\n\r\n")
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))

    with Peer(reset) as peer:
        assert send(peer.url).end in ("cut", "failed")


@pytest.mark.parametrize("said", [b"", b"HTTP/1.1", b"SSH-2.0-x\r\n\r\n"], ids=["nothing", "half a line", "not HTTP"])
def test_end_before_a_status_line_is_a_failure(send: Send, said: bytes) -> None:
    with Peer(lambda sock: sock.sendall(said)) as peer:
        seen = send(peer.url)
    assert (seen.status, seen.end) == (None, "failed")


def test_refused_connection_is_a_failure_with_its_reason(send: Send) -> None:
    seen = send(f"http://127.0.0.1:{free_port()}")
    assert (seen.status, seen.end) == (None, "failed")
    assert seen.error
    assert "ConnectionRefusedError" in seen.error
