from __future__ import annotations

import math
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from harness import journal as journal_module
from harness.exchange import Exchange, Hop, Request
from harness.journal import Journal

REQUEST = Request("GET", "/x")


def test_recording_becomes_an_exchange_with_all_that_came() -> None:
    journal = Journal()
    recording = journal.record("model", REQUEST, "label")
    recording.fault("cut")
    recording.head(200, (("a", "b"),))
    recording.data(b"one")
    recording.data(b"two")
    recording.close("cut", "why")
    (exchange,) = journal.seen()
    assert (
        exchange.hop,
        exchange.request,
        exchange.label,
        exchange.fault,
        exchange.status,
        exchange.headers,
        exchange.body,
        exchange.end,
        exchange.error,
    ) == ("model", REQUEST, "label", "cut", 200, (("a", "b"),), b"onetwo", "cut", "why")


def test_times_go_forward() -> None:
    journal = Journal()
    first, second = journal.record("model", REQUEST), journal.record("model", REQUEST)
    first.data(b"a")
    first.data(b"b")
    first.close("complete")
    second.close("complete")
    one, two = journal.seen()
    assert one.duration is not None
    assert 0 <= one.began <= two.began
    assert 0 <= one.chunks[0].at <= one.chunks[1].at <= one.duration


def test_times_within_an_exchange_count_from_its_beginning() -> None:
    """However much later the recording is made: only so can they be compared with those of another exchange."""
    recording = Journal().record("client", Request("GET", "/"), began=-5.0)
    recording.data(b"x")
    assert recording.snapshot().chunks[0].at >= 5.0


def test_open_exchange_has_no_duration() -> None:
    journal = Journal()
    journal.record("model", REQUEST)
    (exchange,) = journal.seen()
    assert (exchange.end, exchange.duration) == ("open", None)


def test_only_the_first_close_counts() -> None:
    journal = Journal()
    recording = journal.record("model", REQUEST)
    recording.close("gone")
    recording.close("complete", "late")
    recording.head(500, ())
    (exchange,) = journal.seen()
    assert (exchange.end, exchange.error, exchange.status) == ("gone", None, None)


def test_data_after_close_is_dropped() -> None:
    journal = Journal()
    recording = journal.record("model", REQUEST)
    recording.close("complete")
    recording.data(b"late")
    assert journal.seen()[0].body == b""


def test_seen_keeps_to_one_hop_and_the_order_of_arrival() -> None:
    journal = Journal()
    hops: tuple[Hop, ...] = ("model", "client", "model")
    for number, hop in enumerate(hops, 1):
        journal.record(hop, Request("GET", f"/{number}"))
    assert [exchange.request.target for exchange in journal.seen("model")] == ["/1", "/3"]


def test_seen_of_no_hop_is_everything() -> None:
    journal = Journal()
    journal.record("model", REQUEST)
    journal.record("client", REQUEST)
    assert len(journal.seen()) == 2


def test_numbers_begin_where_they_are_told_and_go_on_over_windows() -> None:
    journal = Journal(first_number=10)
    journal.record("model", REQUEST)
    journal.close_window()
    journal.record("model", REQUEST)
    assert [exchange.number for exchange in journal.seen()] == [11]


def test_numbers_are_unique_across_threads() -> None:
    journal = Journal()
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda _: journal.record("model", REQUEST), range(800)))
    assert sorted(exchange.number for exchange in journal.seen()) == list(range(1, 801))


def test_data_from_many_threads_is_all_kept() -> None:
    journal = Journal()
    recording = journal.record("model", REQUEST)
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda _: recording.data(b"x"), range(800)))
    assert journal.seen()[0].body == b"x" * 800


def test_closed_window_holds_what_began_in_it() -> None:
    journal = Journal()
    journal.record("model", REQUEST)
    assert [exchange.number for exchange in journal.close_window().exchanges] == [1]


def test_next_window_begins_empty() -> None:
    journal = Journal()
    journal.record("model", REQUEST)
    journal.close_window()
    assert journal.seen() == ()


def test_exchange_left_open_does_not_come_back_in_the_next_window() -> None:
    journal = Journal()
    recording = journal.record("model", REQUEST)
    journal.close_window()
    recording.data(b"late")
    recording.close("complete")
    assert journal.close_window().exchanges == ()


def test_data_after_its_window_is_dropped_from_the_recording_too() -> None:
    journal = Journal()
    recording = journal.record("model", REQUEST)
    recording.data(b"early")
    journal.close_window()
    recording.data(b"late")
    assert recording.snapshot().body == b"early"


def test_window_handed_over_does_not_change_any_more() -> None:
    journal = Journal()
    recording = journal.record("model", REQUEST)
    window = journal.close_window()
    recording.close("complete")
    assert window.exchanges[0].end == "open"


@pytest.fixture
def ten_bytes(monkeypatch: pytest.MonkeyPatch) -> Journal:
    monkeypatch.setattr(journal_module, "WINDOW_BYTES", 10)
    return Journal()


def test_bytes_over_the_cap_are_counted_not_kept(ten_bytes: Journal) -> None:
    recording = ten_bytes.record("model", REQUEST)
    recording.data(b"12345678")
    recording.data(b"9abc")
    window = ten_bytes.close_window()
    assert (window.exchanges[0].body, window.dropped_bytes) == (b"12345678", 4)


def test_cap_is_reached_by_exactly_its_bytes(ten_bytes: Journal) -> None:
    ten_bytes.record("model", REQUEST).data(b"0123456789")
    assert ten_bytes.close_window().dropped_bytes == 0


def test_kept_body_has_no_hole(ten_bytes: Journal) -> None:
    recording = ten_bytes.record("model", REQUEST)
    for piece in (b"12345678", b"9abc", b"d"):
        recording.data(piece)
    assert ten_bytes.seen()[0].body == b"12345678"


def test_request_bodies_are_capped_too(ten_bytes: Journal) -> None:
    for _ in range(3):
        ten_bytes.record("model", Request("POST", "/x", body=b"123456"))
    window = ten_bytes.close_window()
    assert [exchange.request.body for exchange in window.exchanges] == [b"123456", b"", b""]
    assert window.dropped_bytes == 12


def test_next_window_has_room_again(ten_bytes: Journal) -> None:
    ten_bytes.record("model", REQUEST).data(b"x" * 20)
    ten_bytes.close_window()
    ten_bytes.record("model", REQUEST).data(b"y" * 10)
    window = ten_bytes.close_window()
    assert (window.exchanges[0].body, window.dropped_bytes) == (b"y" * 10, 0)


def test_wait_ends_as_soon_as_another_thread_brings_it_about() -> None:
    journal = Journal()
    recording = journal.record("model", REQUEST)
    waiting = threading.Event()

    def close() -> None:
        waiting.wait(10)
        recording.close("complete")

    thread = threading.Thread(target=close)
    thread.start()

    def is_over(seen: tuple[Exchange, ...]) -> bool:
        waiting.set()
        return seen[0].end == "complete"

    assert journal.wait("model", is_over, within=10)
    thread.join()


def test_wait_notices_data_and_new_exchanges_of_other_threads() -> None:
    journal = Journal()

    def answer() -> None:
        journal.record("client", REQUEST).data(b"x")

    thread = threading.Thread(target=answer)
    thread.start()
    assert journal.wait("client", lambda seen: any(exchange.body for exchange in seen), within=10)
    thread.join()


def test_wait_for_what_does_not_come_says_no() -> None:
    assert not Journal().wait(None, bool, within=0.01)


def test_a_hop_is_calm_since_a_request_began_on_it_or_the_client_was_answered() -> None:
    journal = Journal()
    assert journal.calm("model") == math.inf
    asked = journal.record("client", Request("GET", "/"))
    journal.record("opencode", Request("GET", "/"))
    before = journal.calm("model")
    assert journal.calm("model") >= before
    asked.close("complete")
    assert journal.calm("model") < journal.calm("client") + 1
