from __future__ import annotations

import asyncio
import contextlib

import pytest

from harness.exchange import Headers
from harness.http_call import CallFailed, HttpCall, encode_request
from harness.listener import free_port

GET = encode_request("GET", "/", (("host", "h"),), b"")
SIZED = b"HTTP/1.1 200 OK\r\nX-A: 1\r\nContent-Length: 4\r\n\r\nbody"
CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nbody\r\n0\r\n\r\n"
UNFRAMED = b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nbody"


class Noted:
    def __init__(self) -> None:
        self.status = 0
        self.headers: Headers = ()
        self.body = b""

    def head(self, status: int, headers: Headers) -> None:
        self.status, self.headers = status, headers

    def data(self, data: bytes) -> None:
        self.body += data


def fed(said: bytes, method: str = "GET") -> tuple[HttpCall, Noted]:
    """A call that hears `said` one byte at a time, and then the end of the connection."""

    async def main() -> tuple[HttpCall, Noted]:
        noted = Noted()
        call = HttpCall(method, noted)
        for byte in said:
            call.data_received(bytes([byte]))
        call.connection_lost(None)
        return call, noted

    return asyncio.run(main())


@pytest.mark.parametrize("said", [SIZED, CHUNKED, UNFRAMED], ids=["sized", "chunked", "unframed"])
def test_an_answer_is_whole_however_it_is_framed_and_cut(said: bytes) -> None:
    call, noted = fed(said)
    assert (noted.status, noted.body, call.whole) == (200, b"body", True)


@pytest.mark.parametrize(
    "said", [SIZED[:-1], CHUNKED[:-1], SIZED[:20], b""], ids=["sized", "chunked", "head", "nothing"]
)
def test_an_answer_that_ends_early_is_not_whole(said: bytes) -> None:
    call, _ = fed(said)
    assert not call.whole


def test_a_head_that_only_announces_another_is_none() -> None:
    _, noted = fed(b"HTTP/1.1 100 Continue\r\nX-B: 2\r\n\r\n" + SIZED)
    assert (noted.status, dict(noted.headers)) == (200, {"X-A": "1", "Content-Length": "4"})


@pytest.mark.parametrize(
    ("method", "said"),
    [("HEAD", b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n"), ("GET", b"HTTP/1.1 204 No Content\r\n\r\n")],
    ids=["HEAD", "204"],
)
def test_an_answer_without_a_body_is_whole_with_its_head(method: str, said: bytes) -> None:
    call, _ = fed(said, method)
    assert call.whole


def test_an_answer_is_not_begun_before_its_head_is_whole() -> None:
    call, _ = fed(SIZED[:20])
    assert not call.begun


@pytest.mark.parametrize(
    ("begun", "more"),
    [
        (b"HTTP/1.1 200 OK\r\nX-A: ", b"a" * 65_536),
        (b"HTTP/1.1 200 OK\r\n", b"a: b\r\n" * 10_000),
        (b"", b"HTTP/1.1 100 Continue\r\n\r\n" * 2_000),
        (CHUNKED[:-2], b"a: b\r\n" * 10_000),
        (CHUNKED[:-5] + b"4;", b"a" * 65_536),
    ],
    ids=["header", "headers", "heads", "trailers", "extension of a chunk"],
)
def test_what_has_no_end_and_is_no_body_is_given_up(begun: bytes, more: bytes) -> None:
    assert "Bodiless: more than 1,048,576 bytes" in asyncio.run(_told_without_end(begun, more))


def test_a_long_body_in_small_chunks_is_not_given_up() -> None:
    said = CHUNKED[:-5] + b"1\r\nx\r\n" * 400_000 + CHUNKED[-5:]

    async def main() -> tuple[HttpCall, Noted]:
        noted = Noted()
        call = HttpCall("GET", noted)
        for at in range(0, len(said), 65_536):
            call.data_received(said[at : at + 65_536])
        return call, noted

    call, noted = asyncio.run(main())
    assert (call.whole, len(noted.body)) == (True, 400_004)


def test_what_comes_after_a_stop_is_not_told() -> None:
    async def main() -> bytes:
        noted = Noted()
        call = HttpCall("GET", noted)
        call.data_received(SIZED[:-2])
        call.stop()
        call.data_received(SIZED[-2:])
        return noted.body

    assert asyncio.run(main()) == b"bo"


def test_a_refused_connection_is_told_by_its_name() -> None:
    with pytest.raises(CallFailed, match=r"^ConnectionRefusedError: "):
        asyncio.run(_call(f"http://127.0.0.1:{free_port()}"))


async def _told_without_end(begun: bytes, more: bytes) -> str:
    """Why a call to a server was given up that says `more` again and again."""

    async def say(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(begun)
        with contextlib.suppress(OSError):
            while not writer.is_closing():
                writer.write(more)
                await writer.drain()
        writer.close()

    server = await asyncio.start_server(say, "127.0.0.1", 0)
    host, port = server.sockets[0].getsockname()
    async with server:
        with pytest.raises(CallFailed) as caught:
            await HttpCall("GET", Noted()).run(f"http://{host}:{port}", GET)
    return str(caught.value)


async def _call(url: str) -> None:
    await HttpCall("GET", Noted()).run(url, GET)
