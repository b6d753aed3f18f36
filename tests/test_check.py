from __future__ import annotations

import pytest

from harness.check import Nonconformance, expect
from harness.results import Finding
from tests.sample_results import exchange


def test_what_holds_is_no_finding() -> None:
    expect(True, "this", "that", "mend")


def test_what_does_not_hold_is_a_finding_with_its_exchange() -> None:
    with pytest.raises(Nonconformance) as caught:
        expect(False, "status 401", "404", "check the key first", exchange(7))
    assert caught.value.finding == Finding("status 401", "404", "check the key first", 7)
    assert str(caught.value) == "expected status 401; came 404"


def test_what_came_is_shown_as_it_is_written_in_python() -> None:
    with pytest.raises(Nonconformance) as caught:
        expect(False, "a list", ["a", None], "mend")
    assert caught.value.finding.came == "['a', None]"


def test_what_came_is_cut_at_2000_characters() -> None:
    with pytest.raises(Nonconformance) as caught:
        expect(False, "less", "x" * 5000, "mend")
    assert caught.value.finding.came == "x" * 2000
