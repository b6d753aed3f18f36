from __future__ import annotations

import re

import pytest

from harness.output import KEPT_BYTES, Output

READY = re.compile(r"ready on (\d+)")


def fed(*pieces: bytes) -> Output:
    output = Output()
    for piece in pieces:
        output.feed(piece)
    return output


def test_short_output_is_kept_whole() -> None:
    assert fed(b"one\n", b"two\n").text() == "one\ntwo\n"


def test_output_of_twice_the_kept_size_is_kept_whole() -> None:
    assert fed(b"a" * 2 * KEPT_BYTES).text() == "a" * 2 * KEPT_BYTES


@pytest.mark.parametrize("size", [1, 1000, 10_000_000], ids=["a byte", "pieces", "at once"])
def test_long_output_keeps_both_ends_and_says_what_is_missing(size: int) -> None:
    data = b"a" * KEPT_BYTES + b"b" * 5 + b"c" * KEPT_BYTES
    output = fed(*(data[start : start + size] for start in range(0, len(data), size)))
    assert output.text() == "a" * KEPT_BYTES + "\n[… 5 bytes left out …]\n" + "c" * KEPT_BYTES


def test_line_is_found_when_it_comes_byte_by_byte() -> None:
    output = Output()
    output.watch(READY)
    for byte in b"not\nready on 12\r\n":
        output.feed(bytes([byte]))
    assert output.found(READY) == "ready on 12"


def test_first_of_several_matching_lines_is_found() -> None:
    output = Output()
    output.watch(READY)
    output.feed(b"ready on 1\nready on 2\n")
    assert output.found(READY) == "ready on 1"


def test_line_from_before_the_watch_is_found() -> None:
    output = fed(b"ready on 1\n")
    output.watch(READY)
    assert output.found(READY) == "ready on 1"


def test_line_begun_before_the_watch_is_found() -> None:
    output = fed(b"ready ")
    output.watch(READY)
    output.feed(b"on 1\n")
    assert output.found(READY) == "ready on 1"


def test_unfinished_line_is_not_yet_found() -> None:
    output = Output()
    output.watch(READY)
    output.feed(b"ready on 1")
    assert output.found(READY) is None


@pytest.mark.parametrize("watch_first", [True, False])
def test_unfinished_last_line_is_found_when_the_output_ended(watch_first: bool) -> None:
    output = Output()
    if watch_first:
        output.watch(READY)
    output.feed(b"ready on 1")
    output.close()
    output.watch(READY)
    assert output.found(READY) == "ready on 1"


def test_bytes_that_are_no_text_are_replaced() -> None:
    assert fed(b"a\xffb").text() == "a\ufffdb"


@pytest.mark.parametrize(("before", "after"), [(b"", "one\ntwo"), (b"zero\n", "one\ntwo"), (b"ze", "two")])
def test_what_came_since_begins_with_a_line(before: bytes, after: str) -> None:
    output = fed(before)
    total = output.total
    output.feed(b"one\n")
    output.feed(b"two")
    assert output.since(total) == after


def test_nothing_came_since_is_empty() -> None:
    output = fed(b"a\n")
    assert output.since(output.total) == ""


@pytest.mark.parametrize("before", [b"", b"a\n", b"a\n" * 2 * KEPT_BYTES])
def test_of_much_that_came_since_the_last_whole_lines_are_kept(before: bytes) -> None:
    output = fed(before)
    total = output.total
    output.feed(b"".join(b"line %07d\n" % number for number in range(100_000)))
    lines = output.since(total).splitlines()
    assert len(lines) == KEPT_BYTES // 13
    assert lines[-1] == "line 0099999"
    assert set(map(len, lines)) == {12}
