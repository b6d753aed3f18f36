from __future__ import annotations

import re
from typing import Any

import pytest

from harness.exchange import Request
from harness.reporting.transcript import size_limit, transcript
from tests.sample_results import HOSTILE, exchange

SSE = (("content-type", "text/event-stream; charset=utf-8"),)


def _body(data: bytes, limit: int = 2000) -> str:
    shown = transcript(exchange(chunks=[data], headers=()), limit).partition("<- 404 Not Found in 12 ms\n")[2]
    return "\n".join(line.removeprefix("   ") for line in shown.split("\n")).strip()


def test_transcript_reads_like_the_exchange() -> None:
    assert transcript(exchange(3)).split("\n") == [
        "#3 turnproof -> target",
        "-> POST /v1/chat/completions",
        "   authorization: Bearer [secret:main]",
        "",
        "   {",
        '     "model": "research"',
        "   }",
        "",
        "<- 404 Not Found in 12 ms",
        "   Content-Type: application/json",
        "",
        "   {",
        '     "error": {',
        '       "message": "no"',
        "     }",
        "   }",
    ]


def test_events_are_shown_with_the_time_at_which_they_came() -> None:
    shown = transcript(exchange(chunks=[b"data: a\n\nevent: e", b"rror\ndata: b\n\n"], status=200, headers=SSE))
    assert shown.endswith("      0 ms  data: a\n     10 ms  event: error, data: b")


def test_many_events_are_shown_from_both_ends() -> None:
    chunks = [f"data: {number}\n\n".encode() for number in range(100)]
    shown = transcript(exchange(chunks=chunks, headers=SSE))
    assert re.findall(r"data: (\d+)", shown) == [str(n) for n in (*range(12), *range(94, 100))]
    assert "[... 82 more events ...]" in shown


def test_bytes_after_the_last_event_are_mentioned() -> None:
    shown = transcript(exchange(chunks=[b"data: a\n\ndata: b"], headers=SSE))
    assert shown.endswith("[then bytes that no event carries]")


def test_stream_without_an_event_is_shown_as_it_came() -> None:
    assert "   not an event" in transcript(exchange(chunks=[b"not an event\n"], headers=SSE))


@pytest.mark.parametrize(
    "data",
    [b'{"a":1,"a":2}', b"[1.50]", b"[1e400]", b"[NaN]", b"{broken", b"[" * 400 + b"]" * 400, b"plain"],
)
def test_body_that_would_be_printed_differently_is_shown_as_it_came(data: bytes) -> None:
    assert _body(data) == data.decode()


def test_short_json_is_laid_out() -> None:
    assert _body('{"ä":[1,2.5]}'.encode()) == '{\n  "ä": [\n    1,\n    2.5\n  ]\n}'


def test_body_that_is_not_text_is_written_out() -> None:
    assert _body(b"\xff\x00a") == "\\xff\\x00a"


def test_long_body_is_shortened() -> None:
    assert _body(b"a" * 5000, 100) == f"{'a' * 75} [... 4,900 characters left out ...] {'a' * 25}"


@pytest.mark.parametrize(
    ("changes", "line"),
    [
        ({"end": "cut"}, "   [the answer was cut off after 26 bytes]"),
        ({"end": "gone"}, "   [the asking side left after 26 bytes]"),
        ({"end": "open"}, "   [the answer was still open when its check ended]"),
        ({"end": "failed", "status": None, "error": "refused"}, "<- no status line in 12 ms"),
        ({"error": "refused"}, "   [error: refused]"),
        ({"fault": "reset"}, "   [fault made on purpose: reset]"),
        ({"status": 799}, "<- 799 in 12 ms"),
        ({"hop": "model"}, "#1 -> model server"),
    ],
)
def test_transcript_says_how_it_ended(changes: dict[str, Any], line: str) -> None:
    assert line in transcript(exchange(**changes)).split("\n")


@pytest.mark.parametrize("headers", [SSE, (("x", HOSTILE),)])
def test_hostile_exchange_is_printable(headers: tuple[tuple[str, str], ...]) -> None:
    raw = f"data: {HOSTILE}\n\n".encode("utf-8", "surrogatepass")
    asked = Request(HOSTILE, HOSTILE, ((HOSTILE, HOSTILE),), raw)
    shown = transcript(exchange(request=asked, chunks=[raw], headers=headers, error=HOSTILE, fault=HOSTILE))
    assert all(line.isprintable() for line in shown.split("\n"))


@pytest.mark.parametrize("limit", [0, 100, 2000])
def test_huge_exchange_is_bounded(limit: int) -> None:
    many = (("x" * 9000, "y" * 9000),) * 500
    asked = Request("M" * 9000, "/" * 9000, many, b"b" * 90_000)
    stream = [b"data: " + b"c" * 9000 + b"\n\n"] * 200
    shown = transcript(exchange(request=asked, chunks=stream, headers=(*SSE, *many)), limit)
    assert len(shown) < size_limit(limit) + 60


def test_excerpt_stands_for_the_body_of_the_answer() -> None:
    lines = transcript(exchange(chunks=[b"x" * 5000]), excerpt='{"error": 1}').split("\n")
    assert lines[-2:] == ['   {"error": 1}', "   [this alone of 5,000 bytes]"]
    assert "xxx" not in "".join(lines)
