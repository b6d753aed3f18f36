from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from harness.builtin import find_target
from harness.errors import TargetNotReady
from harness.kilo_target import built_in, described
from harness.launch import launched
from harness.parts import part_behind


def test_what_names_no_cli_is_no_target_of_this_kind() -> None:
    assert [built_in(text) for text in ("reference", "kilo", "kilo-agent.toml", "stand-in")] == [None] * 4


def test_the_stand_in_is_described_by_its_version() -> None:
    (part,) = described(find_target("kilo-stand-in:7.0.33"))
    assert part == {"name": "kilo stand-in", "version": "7.0.33"}


def test_an_executable_is_described_by_its_digest(tmp_path: Path) -> None:
    program = tmp_path / "kilo"
    program.write_bytes(b"#!/bin/sh\n")
    (part,) = described(find_target(f"kilo:{program}"))
    assert part == {"name": "kilo", "sha256": hashlib.sha256(b"#!/bin/sh\n").hexdigest()}


def test_other_targets_have_no_cli() -> None:
    assert described(find_target("reference")) == ()


def test_a_cli_that_is_not_there_is_not_ready(tmp_path: Path) -> None:
    target = find_target(f"kilo:{tmp_path / 'none'}")
    with pytest.raises(TargetNotReady), launched(target, part_behind(target, "stand-in", lambda *_: None)):
        pass
    assert described(target) == ({"name": "kilo"},)
