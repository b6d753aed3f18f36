"""A real LiteLLM proxy in front of the model server: the suite runs on what people use."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.replay import replay
from harness.run import Observer, Order, run
from harness.target_file import load

FILE = Path(__file__).parent / "endpoints" / "litellm.toml"

pytestmark = pytest.mark.extra("litellm-proxy")


def test_a_litellm_proxy_conforms_and_its_replay_confirms_it(tmp_path: Path) -> None:
    results, error = run(Order(load(FILE), "model_server", out=tmp_path), Observer())
    assert error is None
    assert [check.check for check in results.checks if check.verdict not in ("pass", "not-applicable")] == []
    assert [check.check for check in replay(results) if not check.agrees] == []


def test_a_proxy_whose_keys_open_every_model_is_caught(tmp_path: Path) -> None:
    """Without its switch, LiteLLM shows a key its own models and lets it use all."""
    folder = tmp_path / "litellm"
    folder.mkdir()
    for path in FILE.with_suffix("").iterdir():
        if path.is_file():
            text = path.read_text(encoding="utf-8").replace("checks: true", "checks: false")
            (folder / path.name).write_text(text, encoding="utf-8")
    file = tmp_path / "litellm.toml"
    file.write_text(FILE.read_text(encoding="utf-8"), encoding="utf-8")
    results, error = run(Order(load(file), "model_server", "AUTH", out=tmp_path / "out"), Observer())
    assert error is None
    failed = [check.check for check in results.checks if check.verdict == "fail"]
    assert {check.partition("[")[0].partition("::")[2] for check in failed} == {
        "test_a_key_does_not_reach_another_ones_model"
    }
