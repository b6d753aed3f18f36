from __future__ import annotations

from collections.abc import Iterator

import pytest

from harness.telling import beginning, conceal_with, concealed


@pytest.fixture(autouse=True)
def secret() -> Iterator[None]:
    conceal_with(lambda text: text.replace("sk-secret", "[secret:key]"))
    yield
    conceal_with(str)


def test_secret_that_the_cut_would_halve_is_replaced_before_it() -> None:
    assert beginning("0123456 sk-secret", 12) == "0123456 [sec"


def test_secret_is_replaced_wherever_it_stands() -> None:
    assert concealed("sk-secret, and sk-secret") == "[secret:key], and [secret:key]"
