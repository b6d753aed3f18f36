"""The example of an endpoint that starts a LiteLLM proxy and an opencode itself."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.results import read
from tests.running import EXAMPLES, turnproof

pytestmark = pytest.mark.extra("litellm-proxy")


def test_chain_of_its_own_conforms_over_the_real_opencode(tmp_path: Path) -> None:
    checks = "(AUTH-1 and header) or done_is_the_last or (cannot_be_started and exits)"
    target = str(EXAMPLES / "litellm" / "target.toml")
    told = turnproof("run", "--target", target, "-k", checks, "--opencode", "real", "--out", "out", cwd=tmp_path)
    assert told.returncode == 0, told.stdout + told.stderr
    results = read(tmp_path / "out" / "results.jsonl")
    assert {check.verdict for check in results.checks} == {"pass"}
    assert any(exchange.hop == "model" for exchange in results.exchanges.values())
