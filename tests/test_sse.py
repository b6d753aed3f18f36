from __future__ import annotations

import json
import random
import time
from collections.abc import Iterable

import pytest

from harness.sse import Event, Parser, encode, parse

STREAM = (
    b"\xef\xbb\xbf: a comment\ndata: one\n\n"
    b"event: named\r\nid: 7\r\ndata: two\r\ndata:  lines\r\n\r\n"
    b"data:no space\rdata\rretry: 10\runknown: x\r\r"
    b":\n\nevent: without data\n\n"
    b"id: nul\0is ignored\ndata: \xc2\x85 \xe2\x80\xa8 \xe2\x80\xa9\n\n"
    b"id\ndata: \xef\xbb\xbfmark inside\n\n"
    b"data: mixed\r\ndata: ends\rdata: here\n\r\n"
    b"data:\n\n"
    b'data: {"a": "\xc3\xa9"}\n\n'
    b"event: unfinished\ndata: dropped\n"
)
EVENTS = [
    Event("message", "one"),
    Event("named", "two\n lines", "7"),
    Event("message", "no space\n", "7"),
    Event("message", "\x85 \u2028 \u2029", "7"),
    Event("message", "\ufeffmark inside"),
    Event("message", "mixed\nends\nhere"),
    Event("message", ""),
    Event("message", '{"a": "é"}'),
]


def fed(pieces: Iterable[bytes]) -> list[Event]:
    parser = Parser()
    return [event for piece in pieces for event in parser.feed(piece)]


def cut_at_random(data: bytes, seed: int) -> list[bytes]:
    dice = random.Random(seed)
    cuts = sorted(dice.randrange(len(data) + 1) for _ in range(20))
    return [data[begin:end] for begin, end in zip([0, *cuts], [*cuts, len(data)], strict=True)]


def test_stream_fed_whole_gives_its_events() -> None:
    assert parse(STREAM) == EVENTS


def test_stream_fed_byte_by_byte_gives_its_events() -> None:
    assert fed(bytes([byte]) for byte in STREAM) == EVENTS


@pytest.mark.parametrize("seed", range(50))
def test_stream_cut_at_random_gives_its_events(seed: int) -> None:
    assert fed(cut_at_random(STREAM, seed)) == EVENTS


def test_nothing_fed_between_cr_and_lf_changes_nothing() -> None:
    assert fed([b"data: a\r", b"", b"\n", b"data: b\r\n\r", b"", b"\n"]) == [Event("message", "a\nb")]


def test_event_ended_by_cr_is_handed_out_before_the_next_byte() -> None:
    assert fed([b"data: a\r\r"]) == [Event("message", "a")]


def test_byte_order_mark_is_dropped_at_the_very_start_only() -> None:
    assert fed([b"\xef", b"\xbb\xbfdata: a\n\n", b"\xef\xbb\xbfdata: b\n\n"]) == [Event("message", "a")]


def test_part_of_a_byte_order_mark_is_not_swallowed() -> None:
    assert fed([b"\xef\xbb", b"x: y\ndata: a\n\n"]) == [Event("message", "a")]


def test_data_that_is_not_utf_8_is_replaced() -> None:
    assert parse(b"data: a\xff\n\n") == [Event("message", "a\ufffd")]


@pytest.mark.parametrize(
    "open_end",
    [b"d", b"data: x", b"data: x\n", b"event: x\n", b"id: 1\n", b": comment\n", b"\xef\xbb", b"data: x\r\n\r\ndata"],
    ids=repr,
)
def test_pending_after_a_part_of_an_event(open_end: bytes) -> None:
    parser = Parser()
    parser.feed(open_end)
    assert parser.pending


@pytest.mark.parametrize("whole", [b"", b"\n", b"data: x\n\n", b"event: x\r\n\r\n", b": comment\r\r"], ids=repr)
def test_not_pending_at_the_boundary_of_an_event(whole: bytes) -> None:
    parser = Parser()
    parser.feed(whole)
    assert not parser.pending


def seconds_for(megabytes: int) -> float:
    data = b"data: " + b"x" * megabytes * 1024 * 1024 + b"\n\n"
    began = time.process_time()
    (event,) = fed(data[at : at + 16384] for at in range(0, len(data), 16384))
    assert len(event.data) == megabytes * 1024 * 1024
    return time.process_time() - began


def test_one_event_of_many_megabytes_in_small_pieces_is_fast() -> None:
    assert seconds_for(32) < 2.0


def test_event_of_a_hundred_thousand_single_bytes_is_whole() -> None:
    data = b"data: " + b"x" * 100_000 + b"\n\n"
    assert fed(bytes([byte]) for byte in data) == [Event("message", "x" * 100_000)]


def test_event_reads_its_data_as_json() -> None:
    assert EVENTS[-1].json() == {"a": "é"}


@pytest.mark.parametrize("data", ["[DONE]", "", "[" * 100_000], ids=["word", "empty", "deep"])
def test_event_data_that_is_not_json_reads_as_none(data: str) -> None:
    assert Event("message", data).json() is None


@pytest.mark.parametrize("payload", [{"a": ["é", 1, None]}, "line\r\nbreaks \x85\u2028\u2029", 0], ids=repr)
def test_encoded_payload_is_one_event(payload: object) -> None:
    assert [json.loads(event.data) for event in parse(encode(payload))] == [payload]
