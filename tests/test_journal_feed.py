from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from harness import journal as journal_module
from harness.exchange import Exchange, Request
from harness.journal import Journal, Listener
from harness.journal_feed import Mirror, Teller, hear

REQUEST = Request("POST", "/x?y", (("a", "ä"),), b"\xff body")


@pytest.fixture
def near() -> Journal:
    """The journal of this process, in which something was recorded before."""
    journal = Journal(first_number=100)
    journal.record("client", Request("GET", "/"))
    return journal


@pytest.fixture
def far(near: Journal) -> Journal:
    """A journal that is told to `near` line by line."""
    journal = Journal()
    mirror = Mirror(near, journal.epoch)
    teller = Teller(lambda: hear(teller.take().decode(), mirror))
    journal.listener = teller
    return journal


def without_place(exchanges: tuple[Exchange, ...]) -> list[Exchange]:
    """Exchanges without what differs between two journals: their numbers, and when their run began."""
    return [replace(exchange, number=0, began=0.0) for exchange in exchanges]


def test_all_that_comes_of_an_exchange_is_told(near: Journal, far: Journal) -> None:
    recording = far.record("model", REQUEST, "label")
    recording.fault("cut")
    recording.head(200, (("name", "välue"), ("name", "again")))
    recording.data(b"text")
    recording.data(b"\xff\x00")
    recording.close("cut", "why")
    assert without_place(near.seen("model")) == without_place(far.seen("model"))


def test_exchange_gets_a_number_of_the_journal_that_keeps_it(near: Journal, far: Journal) -> None:
    far.record("model", REQUEST)
    near.record("client", REQUEST)
    far.record("opencode", REQUEST)
    assert [(exchange.number, exchange.hop) for exchange in near.seen()] == [
        (100, "client"),
        (101, "model"),
        (102, "client"),
        (103, "opencode"),
    ]


def test_exchange_began_when_it_did_and_not_when_it_was_told(near: Journal, far: Journal) -> None:
    far.record("model", REQUEST)
    (told,), (own,) = near.seen("model"), far.seen("model")
    assert told.began + near.epoch == pytest.approx(own.began + far.epoch, abs=1e-5)


def test_what_was_open_when_the_window_closed_is_told_no_more(near: Journal, far: Journal) -> None:
    recording = far.record("model", REQUEST)
    far.close_window()
    recording.data(b"late")
    recording.close("complete")
    assert without_place(near.seen("model"))[0].end == "open"


def test_exchanges_of_the_next_window_are_told(near: Journal, far: Journal) -> None:
    far.record("model", REQUEST)
    far.close_window()
    near.close_window()
    far.record("model", REQUEST).close("complete")
    assert [exchange.end for exchange in near.seen()] == ["complete"]


def test_what_began_before_anybody_listened_is_left_out(near: Journal, far: Journal) -> None:
    listener, far.listener = far.listener, Listener()
    recording = far.record("model", REQUEST)
    far.listener = listener
    recording.data(b"x")
    recording.close("complete")
    assert near.seen("model") == ()


def test_what_a_journal_has_no_room_for_is_told_nevertheless(monkeypatch: pytest.MonkeyPatch) -> None:
    full, near, teller = Journal(), Journal(), Teller(lambda: None)
    full.listener = teller
    with monkeypatch.context() as patch:
        patch.setattr(journal_module, "WINDOW_BYTES", 0)
        full.record("model", REQUEST).data(b"answer")
    hear(teller.take().decode(), Mirror(near, full.epoch))
    assert [(each.request.body, each.body) for each in full.seen()] == [(b"", b"")]
    assert [(each.request.body, each.body) for each in near.seen()] == [(REQUEST.body, b"answer")]


def gathered() -> tuple[Journal, Teller, list[None]]:
    """A journal, its teller, and how often that woke somebody."""
    woken: list[None] = []
    journal, teller = Journal(), Teller(lambda: woken.append(None))
    journal.listener = teller
    return journal, teller, woken


def test_news_is_counted() -> None:
    journal, teller, _ = gathered()
    recording = journal.record("model", REQUEST)
    recording.data(b"x")
    recording.close("complete")
    recording.data(b"late")
    assert teller.told == hear(teller.take().decode(), Listener()) == 3


def test_somebody_is_woken_once_for_all_that_is_gathered() -> None:
    journal, teller, woken = gathered()
    recording = journal.record("model", REQUEST)
    recording.data(b"x")
    assert len(woken) == 1
    teller.take()
    recording.data(b"y")
    assert len(woken) == 2


def test_nothing_is_taken_twice() -> None:
    journal, teller, _ = gathered()
    assert teller.take() == b""
    journal.record("model", REQUEST)
    assert teller.take().endswith(b"\n")
    assert teller.take() == b""


def test_news_of_many_threads_is_all_told() -> None:
    journal, teller, _ = gathered()
    near = Journal()
    mirror = Mirror(near, journal.epoch)
    recording = journal.record("model", REQUEST)
    with ThreadPoolExecutor(8) as pool:
        for future in [pool.submit(recording.data, b"x") for _ in range(800)]:
            if line := teller.take():
                hear(line.decode(), mirror)
            future.result()
    if line := teller.take():
        hear(line.decode(), mirror)
    assert near.seen()[0].body == b"x" * 800
