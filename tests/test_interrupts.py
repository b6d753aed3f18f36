from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Iterator

import pytest

from harness.interrupts import Held, terminable


@pytest.fixture(autouse=True)
def _handlers_are_python_s_own() -> Iterator[None]:
    """Under pytest-xdist a worker may have been started with SIGINT ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_signal_interrupts_what_may_be_interrupted(number: signal.Signals) -> None:
    with Held() as held, pytest.raises(KeyboardInterrupt), held.raising():
        signal.raise_signal(number)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_signal_is_held_elsewhere(number: signal.Signals) -> None:
    with Held():
        signal.raise_signal(number)


def test_signal_that_came_before_is_raised_on_entry() -> None:
    with Held() as held:
        signal.raise_signal(signal.SIGTERM)
        with pytest.raises(KeyboardInterrupt), held.raising():
            pytest.fail("was not interrupted")


def test_second_signal_does_not_disturb_the_clean_up() -> None:
    with Held() as held:
        with contextlib.suppress(KeyboardInterrupt), held.raising():
            try:
                signal.raise_signal(signal.SIGINT)
            finally:
                signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGTERM)


def test_handlers_are_put_back() -> None:
    before = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)]
    with Held():
        assert signal.getsignal(signal.SIGTERM) not in before
    with terminable():
        assert signal.getsignal(signal.SIGTERM) is signal.default_int_handler
    assert [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)] == before


def test_ignored_signal_stays_ignored() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with Held() as held, held.raising():
        signal.raise_signal(signal.SIGINT)


def test_terminable_makes_sigterm_an_interrupt() -> None:
    with pytest.raises(KeyboardInterrupt), terminable():
        signal.raise_signal(signal.SIGTERM)


def test_other_threads_have_nothing_to_hold() -> None:
    reached = threading.Event()

    def work() -> None:
        with terminable(), Held() as held, held.raising():
            reached.set()

    thread = threading.Thread(target=work)
    thread.start()
    thread.join(10)
    assert reached.is_set()
