from __future__ import annotations

from pathlib import Path

import pytest

from harness.behind import ModelAlone, model_alone
from harness.builtin import find_target
from harness.engine import Engine
from harness.journal import Journal
from harness.replay import replay
from harness.run import Observer, Order, run
from harness.verdict import summarise


@pytest.mark.parametrize("face", ["", ":gym", ":proxy", ":vllm-0.10.0", ":vllm-0.13.0", ":vllm-0.31.0", ":vllm-0.33.0"])
def test_the_stand_in_conforms_with_each_face(face: str, tmp_path: Path) -> None:
    results, error = run(Order(find_target(f"model-stand-in{face}"), "model_server", out=tmp_path), Observer())
    assert error is None
    assert [check.check for check in results.checks if check.verdict not in ("pass", "not-applicable")] == []
    assert summarise(results).exit_code == 0


def test_a_replay_confirms_it_and_the_record_holds_no_key(tmp_path: Path) -> None:
    results, _ = run(Order(find_target("model-stand-in"), "model_server", out=tmp_path), Observer())
    assert [check.check for check in replay(results) if not check.agrees] == []
    text = (tmp_path / "results.jsonl").read_text(encoding="utf-8")
    assert "Bearer [secret:key.narrow]" in text
    assert "Bearer sk-" not in text.replace("Bearer sk-tp", "")


def test_without_anything_of_ours_behind_it_what_needs_a_script_is_not_measured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TURNPROOF_API_KEY", "any-key-will-do")
    part = ModelAlone(frozenset({"m"}), face="vllm-0.31")
    with Engine() as engine, model_alone(engine, Journal(), part, tmp_path) as model:
        order = Order(find_target(model.model_url, kind="model-server"), "model_server", out=tmp_path / "out")
        results, error = run(order, Observer())
    assert error is None
    verdicts = {row.requirement.id: row.verdict for row in summarise(results).rows}
    assert set(verdicts.values()) <= {"pass", "not-measured", "not-applicable"}
    assert verdicts["MS-WINDOW-1"] == "not-measured"
    assert summarise(results).exit_code == 0
