from __future__ import annotations

import time
from collections.abc import Iterator

import pytest

from harness.engine import Engine
from harness.exchange import Request
from harness.fakes.http import Wire
from harness.journal import Journal
from harness.live import LiveTarget
from tests.staging import answer, serving

GET = Request("GET", "/v1/models")
HANG = Request("GET", "/hang")


@pytest.fixture
def live(engine: Engine) -> Iterator[LiveTarget]:
    def handle(request: Request, wire: Wire) -> None:
        if request.path != "/hang":
            answer(wire, 200, {"path": request.path})

    with serving(engine, handle) as url, LiveTarget(engine, Journal(), url, {}, 5.0, None) as target:
        yield target


def test_exchange_is_found_by_the_number_that_its_request_gave(live: LiveTarget) -> None:
    one, two = (live.begin(Request("GET", f"/{n}"), f"l{n}") for n in (1, 2))
    numbers = two.result(), one.result()
    assert [live.find(number).json()["path"] for number in numbers] == ["/2", "/1"]


def test_exchange_has_its_label(live: LiveTarget) -> None:
    assert live.find(live.begin(GET, "ask").result()).label == "ask"


def test_request_that_is_left_at_once_is_over_at_once(live: LiveTarget) -> None:
    began = time.monotonic()
    pending = live.begin(HANG, "ask")
    pending.leave()
    seen = live.find(pending.result())
    assert (seen.end, seen.error) == ("gone", "left on purpose")
    assert time.monotonic() - began < 5


def test_leaving_after_the_end_changes_nothing(live: LiveTarget) -> None:
    pending = live.begin(GET, "ask")
    number = pending.result()
    pending.leave()
    assert live.find(number).end == "complete"


def test_closing_the_window_leaves_what_is_still_asked_for(live: LiveTarget) -> None:
    live.begin(HANG, "ask")
    (exchange,) = live.close_window().exchanges
    assert exchange.end == "gone"


def test_next_window_begins_empty_and_counts_on(live: LiveTarget) -> None:
    first = live.begin(GET, "ask").result()
    live.close_window()
    assert live.seen("client") == ()
    assert live.begin(GET, "ask").result() == first + 1


def test_target_with_nothing_behind_it_is_observed_from_the_client_alone(live: LiveTarget) -> None:
    assert [live.observes(hop) for hop in ("client", "opencode", "model")] == [True, False, False]


def test_answer_later_than_the_deadline_and_its_margin_is_left(engine: Engine) -> None:
    with (
        serving(engine, lambda _request, _wire: None) as url,
        LiveTarget(engine, Journal(), url, {}, -9.9, None) as target,
    ):
        seen = target.find(target.begin(GET, "ask").result())
    assert seen.end == "gone"
