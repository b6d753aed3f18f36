from __future__ import annotations

import threading
from pathlib import Path

import pytest

from harness.capture_folder import CaptureReader
from harness.check import NotMeasured
from harness.exchange import Exchange
from harness.world import LiveWorld, RecordedWorld


def no_exchange(number: int) -> Exchange:
    raise AssertionError(f"no exchange {number} was made")


@pytest.fixture
def world() -> LiveWorld:
    return LiveWorld("check", "seed", no_exchange)


def test_the_calls_of_a_rollout_are_read_in_their_order(world: LiveWorld, tmp_path: Path) -> None:
    text = '{"a": "\u2028"}\nnot json\n\n{"b": 2}\n{"half'
    (tmp_path / "r.capture.jsonl").write_text(text, encoding="utf-8")
    assert CaptureReader(world, tmp_path).of("read", "r", 2) == [{"a": "\u2028"}, {"b": 2}]


def test_a_call_that_is_not_kept_yet_is_waited_for(world: LiveWorld, tmp_path: Path) -> None:
    file = tmp_path / "r.capture.jsonl"
    writer = threading.Timer(0.05, lambda: file.write_text("{}\n", encoding="utf-8"))
    writer.start()
    assert CaptureReader(world, tmp_path).of("read", "r", 1) == [{}]
    writer.join()


def test_the_rollouts_that_hold_a_word_are_named(world: LiveWorld, tmp_path: Path) -> None:
    for name, text in (("b", "word"), ("a", "a word"), ("c", "none")):
        (tmp_path / f"{name}.capture.jsonl").write_text(text, encoding="utf-8")
    (tmp_path / "other.txt").write_text("word", encoding="utf-8")
    assert CaptureReader(world, tmp_path).holding("look", "word") == ["a", "b"]


def test_where_no_folder_is_told_it_is_not_measured(world: LiveWorld) -> None:
    with pytest.raises(NotMeasured, match="captures"):
        CaptureReader(world, None).of("read", "r", 1)


def test_a_replay_reads_what_was_seen(world: LiveWorld, tmp_path: Path) -> None:
    (tmp_path / "r.capture.jsonl").write_text('{"a": 1}\n', encoding="utf-8")
    CaptureReader(world, tmp_path).of("read", "r", 1)
    recorded = RecordedWorld("check", "seed", {(act.actor, act.label): act for act in world.acts}, {})
    assert CaptureReader(recorded, None).of("read", "r", 1) == [{"a": 1}]
