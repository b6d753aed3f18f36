from __future__ import annotations

import json
from dataclasses import replace

import pytest

from harness.exchange import (
    Chunk,
    Exchange,
    Request,
    bytes_from_json,
    bytes_to_json,
    exchange_from_json,
    exchange_to_json,
    header,
    parse_json,
    request_from_json,
    request_to_json,
)

REQUEST = Request("POST", "/v1/x?a=1&b=?", (("Host", "h"), ("X-Twice", "1"), ("x-twice", "2")), b'{"a": 1}')
OPEN = Exchange(7, "model", REQUEST, 1.5)
OVER = replace(
    OPEN,
    label="first",
    status=200,
    headers=(("Content-Type", "Text/Event-Stream; charset=utf-8"),),
    chunks=(Chunk(0.25, "é".encode()[:1]), Chunk(0.5, "é".encode()[1:]), Chunk(0.5, b"!")),
    end="cut",
    duration=0.75,
    fault="cut",
    error="ConnectionResetError",
)


def test_header_is_found_in_any_letter_case_and_first_wins() -> None:
    assert header(REQUEST.headers, "X-TWICE") == "1"


def test_missing_header_is_none() -> None:
    assert header(REQUEST.headers, "x-none") is None


def test_path_is_the_target_without_its_query() -> None:
    assert REQUEST.path == "/v1/x"


def test_request_body_is_read_as_json() -> None:
    assert REQUEST.json() == {"a": 1}


@pytest.mark.parametrize("data", [b"", b"{", b"\xff\xfe", b"[" * 100_000, b"9" * 5000], ids=repr)
def test_body_that_is_not_json_reads_as_none(data: bytes) -> None:
    assert parse_json(data) is None


def test_answer_body_joins_its_chunks() -> None:
    assert OVER.text == "é!"


def test_text_replaces_what_is_not_utf_8() -> None:
    assert replace(OVER, chunks=(Chunk(0.0, b"a\xff"),)).text == "a\ufffd"


def test_answer_without_a_body_is_no_json() -> None:
    assert OPEN.json() is None


def test_content_type_is_lower_case_without_parameters() -> None:
    assert OVER.content_type == "text/event-stream"


def test_content_type_of_an_answer_without_one_is_empty() -> None:
    assert OPEN.content_type == ""


@pytest.mark.parametrize("data", [b"", b"plain", "é\x85\u2028".encode(), b"\xff\x00\xfe"], ids=repr)
def test_bytes_survive_json(data: bytes) -> None:
    assert bytes_from_json(json.loads(json.dumps(bytes_to_json(data)))) == data


@pytest.mark.parametrize("body", [b"{}", b"\xff"], ids=repr)
def test_request_survives_json(body: bytes) -> None:
    request = replace(REQUEST, body=body)
    assert request_from_json(json.loads(json.dumps(request_to_json(request)))) == request


@pytest.mark.parametrize("exchange", [OPEN, OVER], ids=["open", "over"])
def test_exchange_survives_json(exchange: Exchange) -> None:
    assert exchange_from_json(json.loads(json.dumps(exchange_to_json(exchange)))) == exchange
