from __future__ import annotations

import json
from pathlib import Path

import pytest

from harness.errors import UsageError
from harness.reference.endpoint.config import VARIABLES, load_config
from harness.reference.endpoint.serve import serve

SETTINGS = {"agents": {"a": "p/m"}}
ENVIRON = {**dict.fromkeys(VARIABLES, "canary"), "OPENCODE_URL": "http://localhost:1", "ENDPOINT_DATABASE": ":memory:"}


def _write(folder: Path, settings: object) -> Path:
    path = folder / "config.json"
    path.write_text(json.dumps(settings), "utf-8")
    return path


def test_config_is_read_with_its_defaults(tmp_path: Path) -> None:
    config = load_config(_write(tmp_path, SETTINGS), ENVIRON)
    assert (config.agents, config.deadline, config.opencode_username) == ({"a": "p/m"}, 20.0, "opencode")


def test_secrets_are_not_shown(tmp_path: Path) -> None:
    assert "canary" not in repr(load_config(_write(tmp_path, SETTINGS), ENVIRON))


@pytest.mark.parametrize("name", VARIABLES)
def test_missing_secret_is_named(tmp_path: Path, name: str) -> None:
    with pytest.raises(UsageError, match=name):
        load_config(_write(tmp_path, SETTINGS), {**ENVIRON, name: ""})


@pytest.mark.parametrize("settings", [[], {}, {**SETTINGS, "unheard_of": 1}])
def test_config_that_is_none_is_refused(tmp_path: Path, settings: object) -> None:
    with pytest.raises(UsageError):
        load_config(_write(tmp_path, settings), ENVIRON)


@pytest.mark.parametrize(("deadline", "grace", "budget"), [(20.0, 1.0, 19.0), (1.0, 1.0, 0.5), (3.0, 1.0, 2.0)])
def test_budget_leaves_time_for_giving_up(tmp_path: Path, deadline: float, grace: float, budget: float) -> None:
    settings = {**SETTINGS, "deadline": deadline, "abort_grace": grace}
    assert load_config(_write(tmp_path, settings), ENVIRON).budget == budget


def test_serving_without_secrets_is_a_usage_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
    assert serve(["--port", "0", "--config", str(tmp_path / "none.json")]) == 2
    assert "OPENCODE_SERVER_PASSWORD" in capsys.readouterr().err


def test_folders_are_in_the_folder_that_is_given(tmp_path: Path) -> None:
    settings = {**SETTINGS, "folders": {"a": "its/own"}}
    config = load_config(_write(tmp_path, settings), {**ENVIRON, "ENDPOINT_FOLDERS": str(tmp_path)})
    assert config.folders == {"a": str(tmp_path.resolve() / "its/own")}


def test_without_folders_there_are_none(tmp_path: Path) -> None:
    assert load_config(_write(tmp_path, SETTINGS), ENVIRON).folders == {}


def test_deadline_is_taken_from_the_environment(tmp_path: Path) -> None:
    assert load_config(_write(tmp_path, SETTINGS), {**ENVIRON, "ENDPOINT_DEADLINE": "3.5"}).deadline == 3.5
