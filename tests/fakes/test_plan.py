from __future__ import annotations

import contextlib
import http.client
import socket
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from harness.engine import Engine
from harness.exchange import Chunk, Exchange, Request
from harness.fakes.http import HttpServer, Wire
from harness.fakes.plan import Ending, Gate, Plan, play
from harness.journal import Journal

TOLERANCE = 0.005
"""Seconds by which the event loop's clock, of whole milliseconds, may run ahead of the client's."""


class Stage:
    """Plays its plans, one for each request, and counts those that are over."""

    def __init__(self, plans: tuple[Plan, ...]) -> None:
        self.journal = Journal()
        self.gate = Gate()
        self.over = threading.Semaphore(0)
        self._plans = iter(plans)
        self.http = HttpServer(self._handle)

    def _handle(self, request: Request, wire: Wire) -> None:
        plan = next(self._plans)
        gate = self.gate if plan.gate else None
        play(plan, wire, self.journal.record("model", request), self.over.release, gate)

    async def open(self) -> None:
        self.gate.open()

    def ended(self, end: str) -> Exchange:
        """The first exchange, once it has ended like this."""
        assert self.journal.wait("model", lambda seen: bool(seen) and seen[0].end == end, within=10)
        return self.journal.seen()[0]


PlayOn = Callable[..., Stage]


@pytest.fixture
def play_on(engine: Engine) -> Iterator[PlayOn]:
    stages = []

    def start(*plans: Plan) -> Stage:
        stage = Stage(plans)
        stages.append(stage)
        engine.call(stage.http.start(), 10)
        return stage

    yield start
    for stage in stages:
        engine.call(stage.http.stop(), 10)


@contextlib.contextmanager
def asked(stage: Stage, method: str = "GET") -> Iterator[socket.socket]:
    with socket.create_connection(("127.0.0.1", stage.http.port), 10) as client:
        client.sendall(f"{method} /x HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n".encode())
        yield client


def said(stage: Stage, method: str = "GET") -> bytes:
    with asked(stage, method) as client, client.makefile("rb") as stream:
        return stream.read()


def pieces(*data: bytes, apart: float = 0.0) -> tuple[Chunk, ...]:
    return tuple(Chunk(index * apart, piece) for index, piece in enumerate(data))


def test_plan_has_a_content_length(play_on: PlayOn) -> None:
    plan = Plan(201, (("x", "y"),), pieces(b"ab", b"c"))
    assert said(play_on(plan)) == b"HTTP/1.1 201 Created\r\nx: y\r\ncontent-length: 3\r\n\r\nabc"


def test_stream_has_chunks_and_a_terminator(play_on: PlayOn) -> None:
    assert said(play_on(Plan(200, (), pieces(b"ab", b"c"), stream=True))) == (
        b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nab\r\n1\r\nc\r\n0\r\n\r\n"
    )


@pytest.mark.parametrize("stream", [False, True])
def test_plan_without_pieces_has_an_empty_body(play_on: PlayOn, stream: bool) -> None:
    assert said(play_on(Plan(200, stream=stream))).split(b"\r\n\r\n", 1)[1] == (b"0\r\n\r\n" if stream else b"")


@pytest.mark.parametrize("status", [204, 304])
def test_status_without_a_body_is_sent_without_one(play_on: PlayOn, status: int) -> None:
    answer = said(play_on(Plan(status, (("x", "y"),), pieces(b"null"))))
    assert answer.split(b"\r\n")[1:] == [b"x: y", b"", b""]


def test_answer_to_head_has_the_length_and_no_body(play_on: PlayOn) -> None:
    assert said(play_on(Plan(200, (), pieces(b"abc"))), "HEAD") == b"HTTP/1.1 200 OK\r\ncontent-length: 3\r\n\r\n"


def test_streamed_answer_to_head_has_no_terminator(play_on: PlayOn) -> None:
    answer = said(play_on(Plan(200, (), pieces(b"abc"), stream=True)), "HEAD")
    assert answer == b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n"


def test_cut_closes_a_stream_without_its_terminator(play_on: PlayOn) -> None:
    answer = said(play_on(Plan(200, (), pieces(b"ab"), stream=True, ending="cut")))
    assert answer.split(b"\r\n\r\n", 1)[1] == b"2\r\nab\r\n"


def test_cut_before_the_head_says_nothing(play_on: PlayOn) -> None:
    assert said(play_on(Plan(None, ending="cut"))) == b""


def test_reset_comes_after_the_pieces(play_on: PlayOn) -> None:
    with asked(play_on(Plan(200, (), pieces(b"ab"), stream=True, ending="reset"))) as client:
        assert client.recv(1000).endswith(b"\r\n\r\n2\r\nab\r\n")
        with pytest.raises(ConnectionResetError):
            client.recv(1)


def test_hang_sends_its_pieces_and_stays_open(play_on: PlayOn) -> None:
    with asked(play_on(Plan(200, (), pieces(b"ab"), stream=True, ending="hang"))) as client:
        assert client.recv(1000).endswith(b"\r\n\r\n2\r\nab\r\n")
        client.settimeout(0.05)
        with pytest.raises(TimeoutError):
            client.recv(1)


def test_hang_without_a_status_says_nothing(play_on: PlayOn) -> None:
    stage = play_on(Plan(None, ending="hang"))
    with asked(stage) as client:
        assert stage.ended("open").status is None
        client.settimeout(0.05)
        with pytest.raises(TimeoutError):
            client.recv(1)


def test_client_that_leaves_a_hang_ends_it(play_on: PlayOn) -> None:
    stage = play_on(Plan(None, ending="hang", fault="hang"))
    with asked(stage):
        stage.ended("open")
    assert stage.ended("gone").fault == "hang"


def test_client_that_leaves_during_a_pause_stops_the_pieces(play_on: PlayOn) -> None:
    stage = play_on(Plan(200, (), pieces(b"ab", b"cd", apart=60.0), stream=True))
    with asked(stage) as client:
        client.recv(1000)
    assert stage.ended("gone").body == b"ab"


def test_client_that_left_is_not_played_to_when_the_next_piece_is_due(play_on: PlayOn) -> None:
    stage = play_on(Plan(200, (), pieces(b"ab", b"cd", apart=0.05), stream=True))
    with asked(stage) as client:
        client.recv(1000)
    assert stage.over.acquire(timeout=10)
    assert not stage.over.acquire(timeout=0.1)


def test_pieces_do_not_come_before_they_are_due(play_on: PlayOn) -> None:
    stage = play_on(Plan(200, (), pieces(b"a", b"b", b"c", apart=0.03)))
    connection = http.client.HTTPConnection("127.0.0.1", stage.http.port, timeout=10)
    with contextlib.closing(connection):
        began = time.monotonic()
        connection.request("GET", "/")
        answer = connection.getresponse()
        ages = []
        for _ in range(3):
            answer.read(1)
            ages.append(time.monotonic() - began)
    assert ages[1] >= 0.03 - TOLERANCE
    assert ages[2] >= 0.06 - TOLERANCE


def test_each_piece_goes_out_when_it_is_due(play_on: PlayOn) -> None:
    with asked(play_on(Plan(200, (), (Chunk(0.0, b"now"), Chunk(60.0, b"later"))))) as client:
        assert client.recv(1000).endswith(b"now")


@pytest.mark.parametrize(("ending", "end"), [("complete", "complete"), ("cut", "cut"), ("reset", "cut")])
def test_recording_says_what_was_sent_and_how_it_ended(play_on: PlayOn, ending: Ending, end: str) -> None:
    stage = play_on(Plan(200, (("x", "y"),), pieces(b"ab", b"c"), stream=True, ending=ending, fault="why"))
    with contextlib.suppress(ConnectionResetError):
        said(stage)
    exchange = stage.ended(end)
    assert (exchange.status, exchange.headers, exchange.body, exchange.fault) == (
        200,
        (("x", "y"), ("transfer-encoding", "chunked")),
        b"abc",
        "why",
    )


def test_plan_without_a_fault_is_recorded_without_one(play_on: PlayOn) -> None:
    stage = play_on(Plan(200))
    said(stage)
    assert stage.ended("complete").fault is None


@pytest.mark.parametrize("plan", [Plan(200), Plan(200, ending="cut"), Plan(None, ending="hang")], ids=repr)
def test_finished_is_called_once_whichever_way_it_ends(play_on: PlayOn, engine: Engine, plan: Plan) -> None:
    stage = play_on(plan)
    with asked(stage) as client:
        stage.ended("open" if plan.ending == "hang" else plan.ending)
        client.shutdown(socket.SHUT_RDWR)
    assert stage.over.acquire(timeout=10)
    engine.call(stage.http.stop(), 10)
    assert not stage.over.acquire(blocking=False)


@pytest.mark.parametrize("first", [Plan(204), Plan(200, (), pieces(b"ab"), stream=True), Plan(200)], ids=repr)
def test_next_request_on_the_connection_is_answered(play_on: PlayOn, first: Plan) -> None:
    stage = play_on(first, Plan(200, (), pieces(b"second")))
    connection = http.client.HTTPConnection("127.0.0.1", stage.http.port, timeout=10)
    bodies: list[Any] = []
    with contextlib.closing(connection):
        for _ in range(2):
            connection.request("GET", "/")
            bodies.append(connection.getresponse().read())
    assert bodies[1] == b"second"


HELD = Plan(200, (), pieces(b"now", b"later"), gate="gate", held_from=1)


def test_pieces_after_a_gate_wait_for_it(play_on: PlayOn, engine: Engine) -> None:
    stage = play_on(HELD)
    with asked(stage) as client, client.makefile("rb") as stream:
        assert client.recv(1000).endswith(b"now")
        engine.call(stage.open(), 10)
        assert stream.read() == b"later"


def test_open_gate_holds_nothing(play_on: PlayOn, engine: Engine) -> None:
    stage = play_on(HELD)
    engine.call(stage.open(), 10)
    assert said(stage).endswith(b"nowlater")


def test_gate_that_is_opened_after_the_client_left_lets_nothing_go_on(play_on: PlayOn, engine: Engine) -> None:
    stage = play_on(HELD)
    with asked(stage) as client:
        client.recv(1000)
    stage.ended("gone")
    engine.call(stage.open(), 10)
    assert stage.ended("gone").body == b"now"
