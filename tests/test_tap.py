from __future__ import annotations

import contextlib
import http.client
import json
import re
import socket
import struct
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest

from harness.engine import Engine
from harness.exchange import Exchange, Request
from harness.fakes.http import HttpServer, Wire, encode_head
from harness.journal import Journal
from harness.sse import encode, parse
from harness.tap import Tap
from harness.tap_script import SESSION, Break, Delay, Inject, Refuse, Reply, Split

TOLERANCE = 0.005
"""Seconds by which the event loop's clock, of whole milliseconds, may run ahead."""

GET = b"GET /x HTTP/1.1\r\nHost: h\r\n\r\n"
EVENTS = b"GET /event HTTP/1.1\r\nHost: h\r\n\r\n"
BUSY = {"type": "session.status", "properties": {"sessionID": "ses_1", "status": {"type": "busy"}}}
OTHER = {"type": "other", "properties": {}}
IDLE = {"type": "session.idle", "properties": {"sessionID": SESSION}}
FILLED = {"type": "session.idle", "properties": {"sessionID": "ses_1"}}


class Side:
    """One end of a connection, spoken byte by byte."""

    def __init__(self, sock: socket.socket) -> None:
        self.sock = sock
        self.sock.settimeout(10)
        self.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.heard = b""

    def send(self, data: bytes) -> None:
        self.sock.sendall(data)

    def hear(self, until: bytes) -> bytes:
        """What was said up to and with `until`."""
        while until not in self.heard:
            data = self.sock.recv(65536)
            assert data, f"the connection ended after {self.heard!r}"
            self.heard += data
        end = self.heard.index(until) + len(until)
        said, self.heard = self.heard[:end], self.heard[end:]
        return said

    def hear_request(self) -> tuple[bytes, bytes]:
        """Head and body (by its content-length) of a request."""
        head = self.hear(b"\r\n\r\n")
        length = re.search(rb"(?i)content-length: (\d+)", head)
        missing = int(length[1]) if length else 0
        while len(self.heard) < missing:
            self.heard += self.sock.recv(65536)
        body, self.heard = self.heard[:missing], self.heard[missing:]
        return head, body

    def rest(self) -> bytes:
        """All that is said until the other side closes; raises ConnectionResetError at a reset."""
        while data := self.sock.recv(65536):
            self.heard += data
        return self.heard

    def drip(self) -> None:
        """Answer in ever more pieces, until the other side leaves."""
        self.send(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
        while True:
            self.send(b"1\r\n.\r\n")

    def reset(self) -> None:
        self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.sock.close()


class Chain:
    """A tap with a listening far side; `ask` gives both ends of one request that passes through."""

    def __init__(self, engine: Engine, within: float | None = None) -> None:
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.listener.settimeout(10)
        self.journal = Journal()
        upstream = f"http://127.0.0.1:{self.listener.getsockname()[1]}"
        self.tap = Tap("opencode", upstream, self.journal, deadline=within)
        self._stack = contextlib.ExitStack()
        self._stack.enter_context(self.listener)
        self._engine = engine
        engine.call(self.tap.start(), 10)

    def near(self) -> Side:
        port = int(self.tap.url.rsplit(":", 1)[1])
        return Side(self._stack.enter_context(socket.create_connection(("127.0.0.1", port), 10)))

    def far(self) -> Side:
        return Side(self._stack.enter_context(self.listener.accept()[0]))

    def ask(self, request: bytes = GET) -> tuple[Side, Side]:
        near = self.near()
        near.send(request)
        far = self.far()
        far.hear_request()
        return near, far

    def answer(self, said: bytes, request: bytes = GET) -> Side:
        """The near side of a request that the far side answers with `said`, keeping its connection open."""
        near, far = self.ask(request)
        far.send(said)
        return near

    def ended(self, end: str) -> Exchange:
        assert self.journal.wait("opencode", lambda seen: seen[0].end == end, within=10), self.journal.seen()
        return self.journal.seen()[0]

    def close(self) -> None:
        self._stack.close()
        self._engine.call(self.tap.stop(), 10)


@pytest.fixture
def chain(engine: Engine) -> Iterator[Chain]:
    chain = Chain(engine)
    yield chain
    chain.close()


def event_bodies(data: bytes) -> list[Any]:
    return [event.json() for event in parse(data)]


def dechunk(data: bytes) -> bytes:
    body = b""
    while data:
        size, _, data = data.partition(b"\r\n")
        body, data = body + data[: int(size, 16)], data[int(size, 16) + 2 :]
    return body


# Requests


def test_request_passes_whole(chain: Chain) -> None:
    chain.near().send(b"PUT /a%20b?c=d HTTP/1.1\r\nHost: h\r\nX-A: 1\r\nx-a: \xe9\r\nContent-Length: 3\r\n\r\nabc")
    head, body = chain.far().hear_request()
    assert head == b"PUT /a%20b?c=d HTTP/1.1\r\nHost: h\r\nX-A: 1\r\nx-a: \xe9\r\ncontent-length: 3\r\n\r\n"
    assert body == b"abc"


def test_chunked_request_body_passes_with_its_length(chain: Chain) -> None:
    chain.near().send(b"POST /x HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n1\r\nc\r\n0\r\n\r\n")
    assert chain.far().hear_request() == (b"POST /x HTTP/1.1\r\ncontent-length: 3\r\n\r\n", b"abc")


def test_post_without_a_body_says_so(chain: Chain) -> None:
    chain.near().send(b"POST /x HTTP/1.1\r\nContent-Length: 0\r\n\r\n")
    assert chain.far().hear_request() == (b"POST /x HTTP/1.1\r\ncontent-length: 0\r\n\r\n", b"")


def test_get_passes_without_a_length(chain: Chain) -> None:
    chain.near().send(GET)
    assert chain.far().hear_request() == (GET, b"")


def test_big_bodies_pass_both_ways(chain: Chain) -> None:
    body = bytes(range(256)) * 20_000
    with ThreadPoolExecutor(1) as pool:
        asked = pool.submit(httpx.post, chain.tap.url + "/x", content=body, timeout=10, trust_env=False)
        far = chain.far()
        assert far.hear_request()[1] == body
        far.send(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%b" % (len(body), body))
        assert asked.result(10).content == body


# Answers


def test_answer_with_a_length_passes_as_it_is(chain: Chain) -> None:
    said = b"HTTP/1.1 200 OK\r\nX-A: 1\r\nx-a: \xe9\r\nContent-Length: 3\r\n\r\nabc"
    assert chain.answer(said).hear(b"abc") == said


def test_chunked_answer_passes_in_its_pieces(chain: Chain) -> None:
    near = chain.answer(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nX: y\r\n\r\n2\r\nab\r\n1\r\nc\r\n0\r\n\r\n")
    assert near.hear(b"0\r\n\r\n") == (
        b"HTTP/1.1 200 OK\r\nX: y\r\ntransfer-encoding: chunked\r\n\r\n2\r\nab\r\n1\r\nc\r\n0\r\n\r\n"
    )


def test_answer_that_ends_with_its_connection_passes_whole(chain: Chain) -> None:
    near, far = chain.ask()
    far.send(b"HTTP/1.1 200 OK\r\nX: y\r\n\r\nabc")
    far.sock.close()
    head, _, framed = near.hear(b"0\r\n\r\n").partition(b"\r\n\r\n")
    assert (head, dechunk(framed)) == (b"HTTP/1.1 200 OK\r\nX: y\r\ntransfer-encoding: chunked", b"abc")
    assert chain.ended("complete").body == b"abc"


@pytest.mark.parametrize(
    "said",
    [
        b"HTTP/1.1 204 No Content\r\nX: y\r\n\r\n",
        b"HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n",
    ],
)
def test_answer_without_a_body_passes_and_is_complete(chain: Chain, said: bytes) -> None:
    assert chain.answer(said).hear(b"\r\n\r\n") == said
    assert chain.ended("complete").body == b""


@pytest.mark.parametrize("framing", [b"Content-Length: 5\r\n", b""], ids=["length", "no length"])
def test_answer_to_head_has_no_body(chain: Chain, framing: bytes) -> None:
    said = b"HTTP/1.1 200 OK\r\nX: y\r\n" + framing + b"\r\n"
    near = chain.answer(said, GET.replace(b"GET", b"HEAD"))
    assert near.hear(b"\r\n\r\n") == said
    assert (chain.ended("complete").status, near.heard) == (200, b"")


@pytest.mark.parametrize("early", [b"HTTP/1.1 100 Continue\r\n\r\n", b"HTTP/1.1 103 Early Hints\r\nLink: l\r\n\r\n"])
def test_interim_answer_does_not_hide_the_answer(chain: Chain, early: bytes) -> None:
    said = b"HTTP/1.1 201 Created\r\nContent-Length: 2\r\n\r\nab"
    near, far = chain.ask()
    for byte in early + said:
        far.send(bytes([byte]))
    assert near.hear(b"ab") == said


def test_answer_that_comes_byte_by_byte_passes(chain: Chain) -> None:
    near, far = chain.ask()
    said = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nab"
    for byte in said:
        far.send(bytes([byte]))
    assert near.hear(b"ab") == said


def test_connection_is_kept_for_the_next_request(chain: Chain) -> None:
    near = chain.answer(b"HTTP/1.1 204 No Content\r\n\r\n")
    near.hear(b"\r\n\r\n")
    near.send(GET)
    far = chain.far()
    far.hear_request()
    far.send(b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nsecond")
    assert near.hear(b"second")


def test_piece_passes_before_the_next_one_is_sent(chain: Chain) -> None:
    near, far = chain.ask(EVENTS)
    far.send(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
    near.hear(b"\r\n\r\n")
    for piece in (b"data: 1\n\n", b"data: in ", b"parts\n", b"\n"):
        far.send(b"%x\r\n%b\r\n" % (len(piece), piece))
        assert near.hear(piece)


# Ends


@pytest.mark.parametrize(
    "said",
    [
        b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n",
    ],
    ids=["length", "chunked"],
)
def test_cut_of_the_far_side_is_a_cut_at_the_near_side(chain: Chain, said: bytes) -> None:
    near, far = chain.ask()
    far.send(said)
    far.sock.close()
    answer = near.rest()
    assert b"abc" in answer
    assert not answer.endswith(b"0\r\n\r\n")
    assert chain.ended("cut").body == b"abc"


def test_reset_of_the_far_side_is_a_reset_at_the_near_side(chain: Chain) -> None:
    near, far = chain.ask()
    far.send(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n")
    near.hear(b"abc\r\n")
    far.reset()
    with pytest.raises(ConnectionResetError):
        near.rest()
    assert "ConnectionResetError" in str(chain.ended("cut").error)


def test_what_comes_right_before_a_reset_passes(chain: Chain) -> None:
    near, far = chain.ask()
    far.send(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n")
    far.reset()
    with pytest.raises(ConnectionResetError):
        near.rest()
    assert near.heard.endswith(b"abc\r\n")
    assert chain.ended("cut").body == b"abc"


def test_far_side_that_closes_without_an_answer_has_failed(chain: Chain) -> None:
    near, far = chain.ask()
    far.sock.close()
    assert near.rest() == b""
    assert chain.ended("failed").status is None


def test_answer_that_is_no_http_is_a_reset_and_has_failed(chain: Chain) -> None:
    near = chain.answer(b"hello\r\n\r\n")
    with pytest.raises(ConnectionResetError):
        near.rest()
    assert "HttpParser" in str(chain.ended("failed").error)


def test_answer_that_switches_protocols_is_a_reset_not_a_hang(chain: Chain) -> None:
    near = chain.answer(b"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n")
    with pytest.raises(ConnectionResetError):
        near.rest()
    assert chain.ended("failed").status is None


def test_far_side_that_refuses_is_a_reset_and_has_failed(chain: Chain) -> None:
    chain.listener.close()
    near = chain.near()
    near.send(GET)
    with pytest.raises(ConnectionResetError):
        near.rest()
    assert "Refused" in str(chain.ended("failed").error)


@pytest.mark.parametrize("begun", [False, True], ids=["before the answer", "during the answer"])
def test_near_side_that_leaves_leaves_the_far_side(chain: Chain, begun: bool) -> None:
    near, far = chain.ask(EVENTS)
    if begun:
        far.send(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n")
        near.hear(b"abc\r\n")
    near.sock.close()
    with contextlib.suppress(ConnectionResetError):
        assert far.rest() == b""
    assert chain.ended("gone").status == (200 if begun else None)


def test_near_side_that_leaves_at_once_is_recorded_as_gone(chain: Chain) -> None:
    for _ in range(20):
        near = chain.near()
        near.send(GET)
        near.reset()

    def all_gone(seen: tuple[Exchange, ...]) -> bool:
        return all(exchange.end == "gone" for exchange in seen)

    assert chain.journal.wait("opencode", all_gone, within=10)


def test_stop_leaves_both_sides(chain: Chain, engine: Engine) -> None:
    near, far = chain.ask()
    engine.call(chain.tap.stop(), 10)
    for side in (near, far):
        with contextlib.suppress(ConnectionResetError):
            assert side.rest() == b""
    assert chain.ended("gone").end == "gone"


def test_answer_that_drips_beyond_its_time_is_left(engine: Engine) -> None:
    with contextlib.closing(Chain(engine, within=0.1)) as chain:
        near, far = chain.ask()
        with pytest.raises((ConnectionResetError, BrokenPipeError)):
            far.drip()
        with pytest.raises(ConnectionResetError):
            near.rest()
        assert chain.ended("gone").error == "no end within 0.1 s"


# Recording


def test_exchange_is_recorded_whole(chain: Chain) -> None:
    near, far = chain.ask(b"POST /x?y HTTP/1.1\r\nContent-Length: 2\r\nA: b\r\n\r\nhi")
    far.send(b"HTTP/1.1 418 Teapot\r\nX: y\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n")
    near.hear(b"ab")
    far.send(b"1\r\nc\r\n0\r\n\r\n")
    near.hear(b"0\r\n\r\n")
    exchange = chain.ended("complete")
    assert exchange.hop == "opencode"
    assert exchange.request == Request("POST", "/x?y", (("Content-Length", "2"), ("A", "b")), b"hi")
    assert (exchange.status, exchange.header("x")) == (418, "y")
    assert [chunk.data for chunk in exchange.chunks] == [b"ab", b"c"]
    assert exchange.duration is not None
    assert 0 < exchange.chunks[0].at <= exchange.chunks[1].at <= exchange.duration
    assert (exchange.fault, exchange.error) == (None, None)


def test_open_stream_can_be_seen_while_it_runs(chain: Chain) -> None:
    near, far = chain.ask(EVENTS)
    far.send(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n")
    near.hear(b"abc")
    assert (chain.journal.seen()[0].end, chain.journal.seen()[0].body) == ("open", b"abc")


def test_requests_at_once_do_not_mix(engine: Engine) -> None:
    def echo(request: Request, wire: Wire) -> None:
        wire.write(encode_head(200, (("content-length", str(len(request.body))),)) + request.body)
        wire.done()

    journal = Journal()
    far = HttpServer(echo)
    engine.call(far.start(), 10)
    tap = Tap("opencode", far.url, journal)
    engine.call(tap.start(), 10)
    bodies = [str(number).encode() * 5000 for number in range(16)]
    with httpx.Client(timeout=10, trust_env=False) as client, ThreadPoolExecutor(16) as pool:
        answers = list(pool.map(lambda body: client.post(tap.url, content=body).content, bodies))
    engine.call(tap.stop(), 10)
    engine.call(far.stop(), 10)
    assert answers == bodies
    assert all(exchange.body == exchange.request.body for exchange in journal.seen())


# Scripts

Stream = Callable[[list[bytes]], bytes]


@pytest.fixture
def stream(chain: Chain) -> Stream:
    """What the near side of `/event` gets when the far side sends these pieces, one packet each."""

    def pass_through(pieces: list[bytes]) -> bytes:
        near, far = chain.ask(EVENTS)
        far.send(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
        near.hear(b"\r\n\r\n")
        got = b""
        for piece in pieces:
            far.send(b"%x\r\n%b\r\n" % (len(piece), piece))
            size = int(near.hear(b"\r\n"), 16)
            while len(near.heard) < size + 2:
                near.heard += near.sock.recv(65536)
            got, near.heard = got + near.heard[:size], near.heard[size + 2 :]
        far.send(b"0\r\n\r\n")
        near.hear(b"0\r\n\r\n")
        return got

    return pass_through


def test_events_slip_in_right_after_the_one_they_follow(chain: Chain, stream: Stream) -> None:
    chain.tap.script.replace([Inject("session.status", (IDLE,), status="busy")])
    assert event_bodies(stream([encode(BUSY) + encode(OTHER)])) == [BUSY, FILLED, OTHER]


@pytest.mark.parametrize("size", [1, 2, 7, 50, 200])
@pytest.mark.parametrize("line_end", [b"\n", b"\r\n", b"\r"], ids=["LF", "CRLF", "CR"])
def test_events_slip_in_at_boundaries_however_the_packets_cut(
    chain: Chain, stream: Stream, line_end: bytes, size: int
) -> None:
    chain.tap.script.replace([Inject("session.status", (IDLE, OTHER), times=2)])
    named = b"event: named\nid: 1\n" + encode(BUSY)
    data = (encode(BUSY) + b": comment\n" + named + encode(BUSY)).replace(b"\n", line_end)
    got = stream([data[at : at + size] for at in range(0, len(data), size)])
    assert [(event.type, event.json()) for event in parse(got)] == [
        ("message", BUSY),
        ("message", FILLED),
        ("message", OTHER),
        ("named", BUSY),
        ("message", FILLED),
        ("message", OTHER),
        ("message", BUSY),
    ]


def test_slipped_events_are_the_only_difference(chain: Chain, stream: Stream) -> None:
    chain.tap.script.replace([Inject("session.status", (OTHER,))])
    before, after = b"\xef\xbb\xbf: c\r\nid: 1\r\n" + encode(BUSY), b"retry: 1\n\xff\x85\xe2\x80\xa8\x0b\x0c\x1c\n\n"
    assert stream([before + after]) == before + encode(OTHER) + after


def test_stream_without_rules_passes_byte_for_byte(stream: Stream) -> None:
    pieces = [b"\xef\xbb", b"\xbf: c\r", b"\n\r\ndata: \xc2", b"\x85\xe2\x80\xa8\r\rdata", b"\x00\xff\n\n"]
    assert stream(pieces) == b"".join(pieces)


def test_slipped_events_are_recorded_with_their_fault(chain: Chain, stream: Stream) -> None:
    chain.tap.script.replace([Inject("session.status", (OTHER,))])
    stream([encode(BUSY)])
    exchange = chain.ended("complete")
    assert (event_bodies(exchange.body), exchange.fault) == ([BUSY, OTHER], "events slipped in")


def test_untouched_stream_has_no_fault(chain: Chain, stream: Stream) -> None:
    chain.tap.script.replace([Inject("never", (OTHER,))])
    stream([encode(BUSY)])
    assert chain.ended("complete").fault is None


def test_events_of_another_path_are_not_touched(chain: Chain) -> None:
    chain.tap.script.replace([Inject("session.status", (OTHER,))])
    data = encode(BUSY)
    near = chain.answer(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%b" % (len(data), data))
    near.hear(data)
    assert chain.ended("complete").body == data


def test_global_events_are_wrapped(chain: Chain) -> None:
    chain.tap.script.replace([Inject("session.status", (IDLE,))])
    near, far = chain.ask(b"GET /global/event HTTP/1.1\r\n\r\n")
    data = encode({"directory": "/d", "payload": BUSY})
    far.send(b"HTTP/1.1 200 OK\r\n\r\n" + data)
    far.sock.close()
    got = dechunk(near.hear(b"0\r\n\r\n").partition(b"\r\n\r\n")[2])
    assert event_bodies(got)[1] == {"directory": "/d", "payload": FILLED}


def test_stream_with_a_length_is_not_made_longer(chain: Chain) -> None:
    chain.tap.script.replace([Inject("session.status", (OTHER,))])
    data = encode(BUSY)
    chain.answer(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%b" % (len(data), data), EVENTS).hear(data)
    assert chain.ended("complete").body == data


def test_reply_is_given_in_the_far_sides_stead(chain: Chain) -> None:
    chain.tap.script.replace([Reply("POST", "/session", 500, {"name": "UnknownError"})])
    answer = httpx.post(chain.tap.url + "/session", content=b"{}", timeout=10, trust_env=False)
    assert (answer.status_code, answer.json(), answer.headers["content-type"]) == (
        500,
        {"name": "UnknownError"},
        "application/json",
    )
    exchange = chain.ended("complete")
    assert (exchange.status, exchange.fault, exchange.json()) == (500, "reply", {"name": "UnknownError"})


def test_requests_pass_when_the_reply_is_used_up(chain: Chain) -> None:
    chain.tap.script.replace([Reply("GET", "/session/.*", 200, [SESSION])])
    connection = http.client.HTTPConnection("127.0.0.1", int(chain.tap.url.rsplit(":", 1)[1]), timeout=10)
    with contextlib.closing(connection):
        connection.request("GET", "/session/ses_1")
        assert json.loads(connection.getresponse().read()) == ["ses_1"]
        connection.request("GET", "/session/ses_1")
        far = chain.far()
        far.hear_request()
        far.send(b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nreal")
        assert connection.getresponse().read() == b"real"


def test_reply_without_content_keeps_the_connection_in_step(chain: Chain) -> None:
    chain.tap.script.replace([Reply("POST", "/x", 204, None, times=2)])
    connection = http.client.HTTPConnection("127.0.0.1", int(chain.tap.url.rsplit(":", 1)[1]), timeout=10)
    with contextlib.closing(connection):
        for _ in range(2):
            connection.request("POST", "/x")
            answer = connection.getresponse()
            assert (answer.status, answer.read()) == (204, b"")


@pytest.fixture
def broken(chain: Chain) -> Callable[[str], Side]:
    """The near side of an event stream that is to be ended after its first event, which has just been sent."""

    def break_off(ending: Any) -> Side:
        chain.tap.script.replace([Break("session.status", ending)])
        near, far = chain.ask(EVENTS)
        data = encode(BUSY) + encode(OTHER)
        far.send(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n%x\r\n%b\r\n" % (len(data), data))
        near.hear(b"\r\n\r\n")
        return near

    return break_off


def test_stream_is_ended_right_after_an_event(chain: Chain, broken: Callable[[str], Side]) -> None:
    got = dechunk(broken("complete").hear(b"\r\n0\r\n\r\n"))
    exchange = chain.ended("complete")
    assert (event_bodies(got), event_bodies(exchange.body)) == ([BUSY], [BUSY])
    assert exchange.fault == "stream ended: complete"


def test_stream_is_cut_off_right_after_an_event(chain: Chain, broken: Callable[[str], Side]) -> None:
    got = broken("cut").rest()
    assert (event_bodies(dechunk(got)), chain.ended("cut").fault) == ([BUSY], "stream ended: cut")


def test_stream_is_reset_right_after_an_event(chain: Chain, broken: Callable[[str], Side]) -> None:
    near = broken("reset")
    with pytest.raises(ConnectionResetError):
        near.rest()
    assert chain.ended("cut").fault == "stream ended: reset"


def test_session_that_was_created_is_known_to_the_rules(chain: Chain) -> None:
    chain.tap.script.replace([Inject("server.connected", (IDLE,))])
    created = b'{"id": "ses_1"}'
    chain.answer(
        b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%b" % (len(created), created),
        b"POST /session HTTP/1.1\r\nContent-Length: 2\r\n\r\n{}",
    ).hear(created)
    near, far = chain.ask(EVENTS)
    far.send(b"HTTP/1.1 200 OK\r\n\r\n" + encode({"type": "server.connected", "properties": {}}))
    far.sock.close()
    got = dechunk(near.hear(b"0\r\n\r\n").partition(b"\r\n\r\n")[2])
    assert event_bodies(got)[1] == FILLED


@pytest.mark.parametrize(
    "framing", [b"Content-Length: 11", b"Transfer-Encoding: chunked"], ids=lambda line: line.decode()
)
def test_characters_are_cut_into_packets_and_arrive_whole(chain: Chain, framing: bytes) -> None:
    chain.tap.script.replace([Split(0.001)])
    body = "\u00fc\u4f60\U0001f600 x".encode()
    sent = b"b\r\n%b\r\n0\r\n\r\n" % body if framing.startswith(b"T") else body
    near = chain.answer(b"HTTP/1.1 200 OK\r\n%b\r\n\r\n%b" % (framing, sent))
    near.hear(b"\r\n\r\n")
    if framing.startswith(b"T"):
        chunks = [b"\xc3", b"\xbc\xe4", b"\xbd\xa0\xf0", b"\x9f\x98\x80 x"]
        assert near.hear(b"0\r\n\r\n") == b"".join(b"%x\r\n%b\r\n" % (len(c), c) for c in [*chunks, b""])
    else:
        assert near.hear(b" x") == body
    exchange = chain.ended("complete")
    assert (exchange.body, exchange.fault) == (body, "characters cut")


def test_connections_are_refused_when_a_rule_says_so(chain: Chain, engine: Engine) -> None:
    engine.call(chain.tap.obey([Refuse()]), 10)
    with pytest.raises(ConnectionRefusedError):
        chain.near()


def test_open_connections_are_gone_when_new_ones_are_refused(chain: Chain, engine: Engine) -> None:
    near, _ = chain.ask(EVENTS)
    engine.call(chain.tap.obey([Refuse()]), 10)
    with contextlib.suppress(ConnectionResetError):
        assert near.rest() == b""
    chain.ended("gone")


def test_port_accepts_connections_again_when_the_rule_is_gone(chain: Chain, engine: Engine) -> None:
    before = chain.tap.url
    engine.call(chain.tap.obey([Refuse()]), 10)
    engine.call(chain.tap.obey([]), 10)
    assert (chain.tap.url, chain.answer(b"HTTP/1.1 204 No Content\r\n\r\n").hear(b" ")) == (before, b"HTTP/1.1 ")


def test_tap_that_refuses_connections_can_be_stopped(chain: Chain, engine: Engine) -> None:
    engine.call(chain.tap.obey([Refuse()]), 10)
    engine.call(chain.tap.stop(), 10)
    engine.call(chain.tap.obey([]), 10)
    with pytest.raises(ConnectionRefusedError):
        chain.near()


def test_delayed_request_waits_and_says_so(chain: Chain) -> None:
    chain.tap.script.replace([Delay("GET", "/x", 0.1)])
    began = time.monotonic()
    near, far = chain.ask()
    waited = time.monotonic() - began
    far.send(b"HTTP/1.1 204 No Content\r\n\r\n")
    near.hear(b"\r\n\r\n")
    assert (waited >= 0.1 - TOLERANCE, chain.ended("complete").fault) == (True, "delayed")


def test_client_that_leaves_during_a_delay_is_not_passed_on(chain: Chain) -> None:
    chain.tap.script.replace([Delay("GET", "/x", 60.0)])
    near = chain.near()
    near.send(GET)
    assert chain.journal.wait("opencode", bool, within=10)
    near.sock.close()
    assert chain.ended("gone").status is None
