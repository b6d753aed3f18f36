"""The kilo stand-in against the recordings of the binaries: a difference is a failure of the stand-in."""

from __future__ import annotations

import functools
import json
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from harness.fakes.kilo.rules import NEWEST, table_of
from harness.fakes.kilo.shim import write_shim
from harness.kilo_recorded import file_name, recorded, versions
from harness.kilo_starts import HELP, budget, over_window
from harness.record.kilo import record, record_version
from harness.record.kilo_compare import differences
from harness.record.kilo_rules import rules

SIZES = ("system", "schemas")
OLDEST = "7.0.33"
NOT_COMPARED = {
    NEWEST: {HELP.name},
    # It sums the conversation up after a turn that leaves little of the window, which the stand-in does not.
    OLDEST: {HELP.name, *(budget(output, 32768).name for output in (0, 32000, 100000))},
    "7.7.2": {HELP.name, over_window("error").name},
}
HANG_SECONDS = 2.0


@functools.cache  # and no fixture: one with parameters is made again and again when tests have no order
def on_stand_in(version: str) -> dict[str, Any]:
    """What the stand-in with the rules of a version comes to."""
    with tempfile.TemporaryDirectory() as folder:
        shim = write_shim(Path(folder))
        Path(folder, "behaviour.json").write_text(json.dumps({"version": version}), encoding="utf-8")
        return {file_name(name): kept for name, kept in record([str(shim)], hang_seconds=HANG_SECONDS)}


COMPARED = pytest.mark.parametrize("version", NOT_COMPARED)


@COMPARED
def test_the_stand_in_does_as_was_recorded(version: str) -> None:
    outcomes = on_stand_in(version)
    passed_over = {file_name(name) for name in NOT_COMPARED[version]}
    changed = {n: differences(n, recorded(version)[n], kept) for n, kept in outcomes.items() if n not in passed_over}
    assert {name: lines for name, lines in changed.items() if lines} == {}


@COMPARED
def test_its_rules_follow_from_what_it_does(version: str) -> None:
    assert _unsized(rules(version, on_stand_in(version))) == _unsized(table_of(version))


@pytest.mark.parametrize("version", versions())
def test_the_tables_follow_from_the_recordings(version: str) -> None:
    assert rules(version, recorded(version)) == table_of(version)


def test_what_another_version_does_otherwise_is_listed() -> None:
    name = file_name("plain")
    changed = differences(name, recorded(OLDEST)[name], recorded(NEWEST)[name])
    assert '+ turn\'s request has prompt: ["{asked}"]' in changed
    assert differences(name, recorded(NEWEST)[name], recorded(NEWEST)[name]) == []


def _unsized(table: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in table.items() if key not in SIZES}


def test_recordings_hold_nothing_of_the_machine() -> None:
    folder = Path(__file__).parents[2] / "fixtures" / "recordings"
    texts = "".join(path.read_text(encoding="utf-8") for path in folder.glob("kilo-*/*.json"))
    assert "/tmp" not in texts
    assert "127.0.0.1" not in texts


def test_an_unknown_version_is_compared_with_the_newest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shims = tmp_path / "shims"
    shim = write_shim(shims)
    behaviour = {"version": NEWEST, "rules": {"not_found": 3, "title_call": True}}
    (shims / "behaviour.json").write_text(json.dumps(behaviour), encoding="utf-8")
    monkeypatch.setattr("harness.record.kilo.fetch", lambda _spec, **_options: shim)
    told = list(record_version("99.0.0", tmp_path / "out", lambda _: None))
    line = "differs from 7.7.9: a model's name that is unlisted: nemo/unlisted: + exit status 3"
    assert line in told
    assert any("request without tools has max_tokens" in line for line in told)
    table = json.loads((tmp_path / "out" / "kilo-99.0.0" / "rules.json").read_text(encoding="utf-8"))
    assert (table["version"], table["not_found"], table["title_call"]) == ("99.0.0", 3, True)
