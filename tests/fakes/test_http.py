from __future__ import annotations

import asyncio
import contextlib
import socket
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import BinaryIO

import httpx
import pytest

from harness.engine import Engine
from harness.exchange import Request
from harness.fakes import http
from harness.fakes.http import Handler, HttpServer, Wire, encode_chunk, encode_head

Serve = Callable[[Handler], HttpServer]
GET = b"GET /x HTTP/1.1\r\nHost: h\r\n\r\n"


def answer(wire: Wire, body: bytes) -> None:
    wire.write(encode_head(200, (("content-length", str(len(body))),)) + body)
    wire.done()


def echo_target(request: Request, wire: Wire) -> None:
    answer(wire, request.target.encode())


def echo_body(request: Request, wire: Wire) -> None:
    answer(wire, request.body)


@pytest.fixture
def serve(engine: Engine) -> Iterator[Serve]:
    servers = []

    def start(handler: Handler) -> HttpServer:
        server = HttpServer(handler)
        servers.append(server)
        engine.call(server.start(), 10)
        return server

    yield start
    for server in servers:
        engine.call(server.stop(), 10)


@contextlib.contextmanager
def connected(server: HttpServer) -> Iterator[socket.socket]:
    with socket.create_connection(("127.0.0.1", server.port), 10) as client:
        yield client


def read_answer(stream: BinaryIO) -> tuple[int, bytes]:
    status = int(stream.readline().split()[1])
    length = 0
    while (line := stream.readline().strip()) != b"":
        name, _, value = line.partition(b":")
        length = int(value) if name.lower() == b"content-length" else length
    return status, stream.read(length)


def said(server: HttpServer, data: bytes) -> bytes:
    """All that the server says to `data` until it closes."""
    with connected(server) as client, client.makefile("rb") as stream:
        client.sendall(data)
        return stream.read()


def test_head_has_status_line_and_headers() -> None:
    assert encode_head(404, (("a", "b"), ("A", "c"))) == b"HTTP/1.1 404 Not Found\r\na: b\r\nA: c\r\n\r\n"


def test_head_of_an_unknown_status_has_no_reason() -> None:
    assert encode_head(299, ()) == b"HTTP/1.1 299 \r\n\r\n"


@pytest.mark.parametrize(("data", "framed"), [(b"", b"0\r\n\r\n"), (b"x" * 26, b"1a\r\n" + b"x" * 26 + b"\r\n")])
def test_chunk_is_framed(data: bytes, framed: bytes) -> None:
    assert encode_chunk(data) == framed


def test_request_reaches_the_handler_whole(serve: Serve) -> None:
    seen: list[Request] = []

    def keep(request: Request, wire: Wire) -> None:
        seen.append(request)
        answer(wire, b"")

    server = serve(keep)
    with connected(server) as client, client.makefile("rb") as stream:
        client.sendall(
            b"PUT /a%20b?c=d HTTP/1.1\r\nHost: h\r\nX-Cafe: \xe9\r\nx: 1\r\nX: 2\r\ncontent-length: 3\r\n\r\nabc"
        )
        read_answer(stream)
    headers = (("Host", "h"), ("X-Cafe", "\xe9"), ("x", "1"), ("X", "2"), ("content-length", "3"))
    assert seen == [Request("PUT", "/a%20b?c=d", headers, b"abc")]


def test_request_fed_byte_by_byte_is_answered(serve: Serve) -> None:
    with connected(serve(echo_body)) as client, client.makefile("rb") as stream:
        for byte in b"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\nabc":
            client.sendall(bytes([byte]))
        assert read_answer(stream) == (200, b"abc")


def test_connection_is_kept_for_the_next_request(serve: Serve) -> None:
    with connected(serve(echo_target)) as client, client.makefile("rb") as stream:
        client.sendall(b"GET /1 HTTP/1.1\r\n\r\n")
        assert read_answer(stream) == (200, b"/1")
        client.sendall(b"GET /2 HTTP/1.1\r\n\r\n")
        assert read_answer(stream) == (200, b"/2")


def test_thousand_pipelined_requests_are_answered_in_order(serve: Serve) -> None:
    targets = [b"/%d" % number for number in range(1000)]
    with connected(serve(echo_target)) as client, client.makefile("rb") as stream:
        client.sendall(b"".join(b"GET %b HTTP/1.1\r\n\r\n" % target for target in targets))
        assert [read_answer(stream)[1] for _ in targets] == targets


def test_slow_answer_comes_before_that_of_the_request_pipelined_behind_it(serve: Serve) -> None:
    waiting: list[tuple[Request, Wire]] = []

    def slow_then_fast(request: Request, wire: Wire) -> None:
        if request.path == "/slow":
            waiting.append((request, wire))
            asyncio.get_running_loop().call_later(0.02, answer, wire, b"slow")
        else:
            answer(wire, b"fast")

    with connected(serve(slow_then_fast)) as client, client.makefile("rb") as stream:
        client.sendall(b"GET /slow HTTP/1.1\r\n\r\nGET /fast HTTP/1.1\r\n\r\n")
        assert [read_answer(stream)[1] for _ in range(2)] == [b"slow", b"fast"]


@pytest.mark.parametrize(
    "request_head",
    [b"GET /x HTTP/1.1\r\nConnection: close\r\n\r\n", b"GET /x HTTP/1.0\r\n\r\n"],
    ids=["Connection: close", "HTTP/1.0"],
)
def test_connection_that_is_not_to_be_kept_is_closed_after_the_answer(serve: Serve, request_head: bytes) -> None:
    assert said(serve(echo_target), request_head) == b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n/x"


def test_chunked_request_body_is_joined(serve: Serve) -> None:
    with connected(serve(echo_body)) as client, client.makefile("rb") as stream:
        client.sendall(
            b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2;ext=1\r\nde\r\n0\r\nT: 1\r\n\r\n"
        )
        assert read_answer(stream) == (200, b"abcde")


def test_client_that_asks_first_is_told_to_send_its_body(serve: Serve) -> None:
    with connected(serve(echo_body)) as client, client.makefile("rb") as stream:
        client.sendall(b"POST / HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\n")
        assert read_answer(stream) == (100, b"")
        client.sendall(b"abc")
        assert read_answer(stream) == (200, b"abc")


@pytest.mark.parametrize("garbage", [b"\x16\x03\x01\x02\x00", b"hello\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n"], ids=repr)
def test_garbage_is_a_bad_request_and_ends_the_connection(serve: Serve, garbage: bytes) -> None:
    assert said(serve(echo_target), garbage) == encode_head(400, (("content-length", "0"), ("connection", "close")))


@pytest.mark.parametrize(
    "data",
    [
        b"GET /" + b"x" * 2000,
        b"GET / HTTP/1.1\r\nX: " + b"x" * 2000,
        b"POST / HTTP/1.1\r\nContent-Length: 9999\r\n\r\n" + b"x" * 2000,
        b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n" + 500 * b"1\r\nx\r\n",
    ],
    ids=["target", "header", "body", "chunks"],
)
def test_request_that_is_too_long_is_refused_before_its_end(
    serve: Serve, monkeypatch: pytest.MonkeyPatch, data: bytes
) -> None:
    monkeypatch.setattr(http, "REQUEST_BYTES", 1000)
    assert said(serve(echo_body), data) == encode_head(413, (("content-length", "0"), ("connection", "close")))


def test_length_of_a_request_is_its_own_alone(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http, "REQUEST_BYTES", len(GET))
    with connected(serve(echo_target)) as client, client.makefile("rb") as stream:
        for _ in range(3):
            client.sendall(GET)
            assert read_answer(stream) == (200, b"/x")


def test_garbage_behind_a_request_waits_for_its_answer(serve: Serve) -> None:
    def later(_: Request, wire: Wire) -> None:
        asyncio.get_running_loop().call_later(0.02, answer, wire, b"first")

    with connected(serve(later)) as client, client.makefile("rb") as stream:
        client.sendall(GET + b"garbage\r\n\r\n")
        assert [read_answer(stream) for _ in range(2)] == [(200, b"first"), (400, b"")]


@pytest.mark.parametrize(
    "head",
    [b"GET /x HTTP/1.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n", b"CONNECT h:1 HTTP/1.1\r\n\r\n"],
    ids=["upgrade", "connect"],
)
def test_upgrade_is_refused_without_asking_the_handler(serve: Serve, head: bytes) -> None:
    asked: list[Request] = []
    answered = said(serve(lambda request, _: asked.append(request)), head)
    assert (answered.split(b"\r\n")[0], asked) == (b"HTTP/1.1 501 Not Implemented", [])


def test_client_that_leaves_is_gone_once(serve: Serve, engine: Engine) -> None:
    asked, gone = threading.Event(), threading.Event()
    calls: list[None] = []

    def hang(_: Request, wire: Wire) -> None:
        def leave() -> None:
            calls.append(None)
            gone.set()

        wire.gone = leave
        asked.set()

    server = serve(hang)
    with connected(server) as client:
        client.sendall(GET)
        assert asked.wait(10)
    assert gone.wait(10)
    engine.call(server.stop(), 10)
    assert len(calls) == 1


def test_requests_pipelined_behind_a_client_that_left_are_not_handled(serve: Serve, engine: Engine) -> None:
    asked: list[str] = []
    first, gone = threading.Event(), threading.Event()

    def hang(request: Request, wire: Wire) -> None:
        asked.append(request.target)
        wire.gone = gone.set
        first.set()

    server = serve(hang)
    with connected(server) as client:
        client.sendall(GET + GET)
        assert first.wait(10)
    assert gone.wait(10)
    engine.call(server.stop(), 10)
    assert asked == ["/x"]


def test_client_that_leaves_after_its_answer_is_not_gone(serve: Serve, engine: Engine) -> None:
    gone = threading.Event()

    def reply(_: Request, wire: Wire) -> None:
        wire.gone = gone.set
        answer(wire, b"")

    server = serve(reply)
    with connected(server) as client, client.makefile("rb") as stream:
        client.sendall(GET)
        read_answer(stream)
    engine.call(server.stop(), 10)
    assert not gone.is_set()


def test_close_ends_the_connection_after_what_was_written(serve: Serve) -> None:
    def close(_: Request, wire: Wire) -> None:
        wire.write(b"x" * 1_000_000)
        wire.close()

    assert said(serve(close), GET) == b"x" * 1_000_000


def test_reset_is_seen_after_what_was_written(serve: Serve) -> None:
    def reset(_: Request, wire: Wire) -> None:
        wire.write(b"text")
        wire.reset()

    with connected(serve(reset)) as client:
        client.sendall(GET)
        assert client.recv(100) == b"text"
        with pytest.raises(ConnectionResetError):
            client.recv(100)


def test_reset_does_not_count_as_the_client_leaving(serve: Serve, engine: Engine) -> None:
    gone = threading.Event()

    def reset(_: Request, wire: Wire) -> None:
        wire.gone = gone.set
        wire.reset()

    server = serve(reset)
    with connected(server) as client:
        client.sendall(GET)
        with pytest.raises(ConnectionResetError):
            client.recv(1)
    engine.call(server.stop(), 10)
    assert not gone.is_set()


def test_error_of_a_handler_is_no_bad_request(serve: Serve, caplog: pytest.LogCaptureFixture) -> None:
    def fail(_: Request, __: Wire) -> None:
        raise KeyError("a bug of ours")

    assert said(serve(fail), GET) == b""
    assert "a bug of ours" in caplog.text


def test_big_bodies_pass_both_ways(serve: Serve) -> None:
    body = bytes(range(256)) * 80_000
    answered = httpx.post(serve(echo_body).url, content=body, timeout=30, trust_env=False)
    assert answered.content == body


def test_many_connections_are_served_at_once(serve: Serve) -> None:
    waiting: list[Wire] = []

    def when_all_are_there(_: Request, wire: Wire) -> None:
        waiting.append(wire)
        if len(waiting) == 200:
            for held in waiting:
                answer(held, b"all")

    server = serve(when_all_are_there)
    with contextlib.ExitStack() as stack:
        clients = [stack.enter_context(connected(server)) for _ in range(200)]
        for client in clients:
            client.sendall(GET)
        streams = [stack.enter_context(client.makefile("rb")) for client in clients]
        assert {read_answer(stream)[1] for stream in streams} == {b"all"}


def test_clients_in_threads_each_get_their_own_answer(serve: Serve) -> None:
    server = serve(echo_body)

    def ask(number: int) -> bool:
        body = str(number).encode() * 100
        return httpx.post(server.url, content=body, timeout=30, trust_env=False).content == body

    with ThreadPoolExecutor(16) as pool:
        assert all(pool.map(ask, range(16)))


def test_url_names_the_port_that_the_system_picked(serve: Serve) -> None:
    server = serve(echo_target)
    assert server.url == f"http://127.0.0.1:{server.port}"


def test_stop_ends_open_connections(serve: Serve, engine: Engine) -> None:
    asked = threading.Event()
    server = serve(lambda _, __: asked.set())
    with connected(server) as idle, connected(server) as busy:
        busy.sendall(GET)
        assert asked.wait(10)
        engine.call(server.stop(), 10)
        assert [end_of(client) for client in (idle, busy)] == [b"", b""]


def end_of(client: socket.socket) -> bytes:
    try:
        return client.recv(1)
    except ConnectionResetError:
        return b""


def test_stop_tells_the_handler_that_the_client_is_gone(serve: Serve, engine: Engine) -> None:
    asked, gone = threading.Event(), threading.Event()

    def hang(_: Request, wire: Wire) -> None:
        wire.gone = gone.set
        asked.set()

    server = serve(hang)
    with connected(server) as client:
        client.sendall(GET)
        assert asked.wait(10)
        engine.call(server.stop(), 10)
        assert gone.is_set()


def test_stopped_server_refuses_connections(serve: Serve, engine: Engine) -> None:
    server = serve(echo_target)
    engine.call(server.stop(), 10)
    with pytest.raises(ConnectionRefusedError), connected(server):
        pass


def test_stop_twice_and_stop_before_start_do_nothing(serve: Serve, engine: Engine) -> None:
    server = serve(echo_target)
    engine.call(server.stop(), 10)
    engine.call(server.stop(), 10)
    engine.call(HttpServer(echo_target).stop(), 10)
