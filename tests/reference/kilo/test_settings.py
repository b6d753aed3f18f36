from __future__ import annotations

import json
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from harness.reference.kilo.config import Config
from harness.reference.kilo.settings import build_settings, merge, write_settings

URL = "http://127.0.0.1:1/v1"
OWN = {
    "provider": {"nemo": {"options": {"baseURL": "http://stale", "apiKey": "own"}, "models": {"m/x": {"name": "n"}}}}
}


def test_a_model_server_alone_makes_a_provider() -> None:
    settings = build_settings(Config("m/x", URL), URL)
    assert settings == {
        "provider": {
            "nemo": {
                "npm": "@ai-sdk/openai-compatible",
                "name": "nemo",
                "options": {"baseURL": URL, "apiKey": "none"},
                "models": {
                    "m/x": {
                        "name": "m/x",
                        "limit": {"context": 32768, "output": 8192},
                        "interleaved": {"field": "reasoning_content"},
                    }
                },
            }
        }
    }


def test_own_settings_win_over_all_but_the_address() -> None:
    kept = deepcopy(OWN)
    settings = build_settings(Config("m/x", URL, kilo_config=OWN), URL)
    assert settings is not None
    provider = settings["provider"]["nemo"]
    assert provider["options"] == {"baseURL": URL, "apiKey": "own"}
    assert provider["models"]["m/x"]["name"] == "n"
    assert provider["models"]["m/x"]["limit"] == {"context": 32768, "output": 8192}
    assert kept == OWN


def test_no_reasoning_field_leaves_interleaved_out() -> None:
    settings = build_settings(Config("m", URL, reasoning_field=None), URL)
    assert settings is not None
    assert "interleaved" not in settings["provider"]["nemo"]["models"]["m"]


def test_without_a_model_server_the_declared_provider_gets_the_model() -> None:
    declared = {"provider": {"house": {"npm": "x"}}}
    settings = build_settings(Config("house/a/b", kilo_config=declared), None)
    assert settings is not None
    assert list(settings["provider"]) == ["house"]
    assert list(settings["provider"]["house"]["models"]) == ["a/b"]
    assert declared == {"provider": {"house": {"npm": "x"}}}


def test_an_entry_of_its_own_is_left_alone() -> None:
    declared = {"provider": {"house": {"models": {"a": {"name": "mine"}}}}}
    assert build_settings(Config("house/a", kilo_config=declared), None) == declared


def test_an_unknown_provider_is_not_made_up_and_nothing_is_written_for_nothing() -> None:
    declared: dict[str, Any] = {"provider": {"house": {}}}
    assert build_settings(Config("elsewhere/a", kilo_config=declared), None) == declared
    assert build_settings(Config("elsewhere/a"), None) is None


def test_merging_changes_neither_side() -> None:
    below, above = {"a": {"b": 1, "c": 2}, "d": 3}, {"a": {"b": 4}, "d": {"e": 5}}
    kept = deepcopy((below, above))
    assert merge(below, above) == {"a": {"b": 4, "c": 2}, "d": {"e": 5}}
    assert (below, above) == kept


def test_the_file_is_its_owners_alone(tmp_path: Path) -> None:
    write_settings({"a": 1}, tmp_path)
    file = tmp_path / "kilo.json"
    assert json.loads(file.read_text()) == {"a": 1}
    assert file.stat().st_mode & 0o777 == 0o600
    with pytest.raises(FileExistsError):
        write_settings({}, tmp_path)
