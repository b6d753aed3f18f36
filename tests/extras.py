"""The optional extras that tests need: each skips without its own, but in `make extras`, where it fails."""

from __future__ import annotations

import importlib.util

import pytest

MODULES = {
    "litellm": ("litellm",),
    "litellm-proxy": ("litellm", "backoff"),  # the second is what only the proxy brings
    "ray": ("ray",),
}


def expect_extra(item: pytest.Item) -> None:
    """Skip a test whose extra is not installed; fail it where the tests of the extras were asked for."""
    for marker in item.iter_markers("extra"):
        (name,) = marker.args
        if all(importlib.util.find_spec(module) is not None for module in MODULES[name]):
            continue
        say = pytest.fail if item.config.option.markexpr == "extra" else pytest.skip
        say(f"pip install 'turnproof[{name}]'")
