from __future__ import annotations

import pytest

from harness.builtin import find_target
from harness.errors import UsageError
from harness.testing import expect_usable


@pytest.mark.parametrize("name", ["http://127.0.0.1:1", "reference-kilo", "stand-in", "model-stand-in"])
def test_target_that_is_not_started_with_ours_behind_it_is_refused(name: str) -> None:
    with pytest.raises(UsageError, match="not a file of an agent endpoint"):
        expect_usable(find_target(name))


def test_reference_endpoint_can_be_used() -> None:
    expect_usable(find_target("reference"))
